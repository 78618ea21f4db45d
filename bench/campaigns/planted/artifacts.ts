/** Bugs of artifacts: what is given for what was put, and what is removed in which order. */
import type { Planted } from "./Planted.ts"

const reading = "src/services/ArtifactReading.ts"
const files = "src/services/FileSystemArtifactStore.ts"

export const artifacts: ReadonlyArray<Planted> = [
  {
    id: "get-without-digest",
    changes: [{ file: reading, search: "if (actual !== hash) {", replace: `if (actual === "") {` }],
    test: "test/services/ArtifactDamage.test.ts"
  },
  {
    id: "audit-without-digest",
    changes: [
      {
        file: "src/services/ArtifactTableAudit.ts",
        search: "if (found.hash === hash) {",
        replace: "if (found.size === bytes) {"
      }
    ],
    test: "test/services/SqlArtifactStore.test.ts",
    only: "locates damage"
  },
  {
    id: "bytes-go-before-their-ticket",
    changes: [
      {
        file: files,
        search: `      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "ticket")),
      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "bytes"))`,
        replace: `      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "bytes")),
      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "ticket"))`
      }
    ],
    test: "test/campaigns/Crash.test.ts",
    only: "of artifacts "
  },
  {
    id: "evict-before-put",
    changes: [
      {
        file: files,
        search: "    Effect.gen(function* () {\n      const { ref } = kept.meta",
        replace:
          "    Effect.gen(function* () {\n      yield* sweep(yield* ArtifactFiles.ensure(files, place), evict)\n      const { ref } = kept.meta"
      }
    ],
    test: "test/services/ArtifactCrash.test.ts"
  },
  {
    id: "upload-of-the-living-is-removed",
    changes: [
      {
        file: "src/services/ArtifactTableAudit.ts",
        search: "RecordLock.isGone(maker) ?? now - written > graceMs",
        replace: "RecordLock.isGone(maker) !== undefined || now - written > graceMs"
      }
    ],
    test: "test/services/SqlArtifactStore.test.ts",
    only: "nobody continues"
  },
  {
    id: "bytes-of-a-damaged-ticket-removed",
    changes: [
      {
        file: "src/services/ArtifactTableAudit.ts",
        search: `audit.repair && !audit.problems.some(({ kind }) => kind === "ticket-changed")`,
        replace: "audit.repair"
      }
    ],
    test: "test/services/SqlArtifactStore.test.ts",
    only: "removes nothing for it"
  },
  {
    id: "put-without-turns",
    changes: [
      {
        file: "src/services/ArtifactVerbs.ts",
        search: "return yield* medium.exclusively(place)(placed)",
        replace: "return yield* placed"
      }
    ],
    test: "test/services/SqlArtifactStore.test.ts",
    only: "keep one limit"
  },
  {
    id: "parents-of-any-scope",
    changes: [
      {
        file: "src/services/ArtifactVerbs.ts",
        search: "if (orphaned !== undefined) return yield* orphaned",
        replace: "if (orphaned !== undefined && held.length < 0) return yield* orphaned"
      }
    ],
    test: "test/services/ArtifactStore.test.ts"
  },
  {
    id: "expired-is-live",
    changes: [
      {
        file: "src/services/ArtifactVerbs.ts",
        search: "!Retention.isExpired(meta, now)",
        replace: "!Retention.isExpired(meta, now - now)"
      }
    ],
    test: "test/services/ArtifactStore.test.ts"
  }
]
