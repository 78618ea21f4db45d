import { FetchHttpClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Either, Layer, Logger, Option, Redacted, Schedule, Stream, Tracer } from "effect"
import * as fs from "node:fs"
import { inspect } from "node:util"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type { ArtifactStoreError } from "../../src/services/ArtifactStoreError.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import type * as ArtifactStoreSuite from "../../src/services/ArtifactStoreSuite.ts"
import type * as S3ArtifactStore from "../../src/services/S3ArtifactStore.ts"
import * as S3Server from "./S3Server.ts"

type Store = ArtifactStoreSuite.Store

const server = new S3Server.S3Server()
beforeAll(() => server.start())
afterAll(() => server.stop())
beforeEach(() => server.reset())

const scope: Artifact.Scope = { conversationId: "chat", tenant: "acme-canary" }
const put = (store: Store, data: unknown) =>
  Effect.map(store.put(scope, { kind: "note", mediaType: "text/plain", data }), ({ meta }) => meta.ref)
const stream = (store: Store, bytes: Uint8Array) =>
  Effect.suspend(() =>
    store.putStream!(scope, { kind: "b", mediaType: "b", bytes: bytes.length, body: Stream.make(bytes) })
  )
const refs = (store: Store) => Effect.map(store.list(scope), ({ artifacts }) => artifacts.map(({ ref }) => ref))

const once = { retry: Schedule.recurs(0) }

/** Makes this trouble with every request from now on, or with those that are asked about. */
const trouble = (trouble: S3Server.Trouble, of: (seen: S3Server.Seen) => boolean = () => true) => {
  server.trouble = (seen) => (of(seen) ? trouble : undefined)
}

/** Makes it with one request alone: the one with this number from now on. */
const troubleAt = (number: number, made: S3Server.Trouble) => {
  let count = 0
  server.trouble = () => (count++ === number ? made : undefined)
}

/** A store that knows the server's time, so that each of its requests is one. */
const ready = (more: Partial<S3ArtifactStore.Options> = {}) =>
  Effect.gen(function* () {
    const given = S3Server.options(server, more)
    const store = yield* S3Server.open(given)
    yield* store.list(scope)
    server.seen.length = 0
    return { given, store }
  })

const mebi = 1_024 * 1_024

/** A bucket in which nothing is wrong but what a put that ended badly leaves, of which a repair leaves nothing. */
const repaired = (given: S3ArtifactStore.Options) =>
  Effect.gen(function* () {
    for (const key of server.keys(given.prefix)) server.age(server.fileOf(key))
    for (const id of server.uploads()) server.age(server.uploadDirectory(id))
    const { problems } = yield* S3Server.verify(given, true)
    for (const { kind } of problems) assert.include(["no-ticket", "no-bytes", "staged"], kind)
    assert.deepStrictEqual((yield* S3Server.verify(given)).problems, [])
    assert.deepStrictEqual(server.uploads(), [])
  })

describe("S3ArtifactStore, when the store or the network fails", () => {
  const refusals: ReadonlyArray<readonly [S3Server.Trouble, RegExp, ArtifactStoreError["retry"]]> = [
    [{ refuse: 403, code: "AccessDenied" }, /list the bucket/, "after-human"],
    [{ refuse: 403, code: "SignatureDoesNotMatch" }, /secretAccessKey/, "after-human"],
    [{ refuse: 403, code: "InvalidAccessKeyId" }, /accessKeyId/, "after-human"],
    [{ refuse: 400, code: "ExpiredToken" }, /new credentials/, "after-human"],
    [{ refuse: 403, code: "RequestTimeTooSkewed" }, /clock/, "after-human"],
    [{ refuse: 403 }, /Check accessKeyId/, "after-human"],
    [{ refuse: 404, code: "NoSuchBucket" }, /Make the bucket/, "after-human"],
    [{ refuse: 404 }, /endpoint is that of an object store/, "after-human"],
    [
      { refuse: 400, code: "AuthorizationHeaderMalformed", region: "eu-west-3" },
      /Set region to eu-west-3\./,
      "after-human"
    ],
    [{ refuse: 301, code: "PermanentRedirect" }, /endpoint and region/, "after-human"],
    [{ refuse: 307, code: "TemporaryRedirect", location: "/elsewhere/stolen" }, /endpoint and region/, "after-human"],
    [{ refuse: 503, code: "SlowDown" }, /Try again later/, "safe-with-same-key"],
    [{ refuse: 500, code: "InternalError" }, /Try again later/, "safe-with-same-key"],
    [{ refuse: 429 }, /Try again later/, "safe-with-same-key"],
    [{ refuse: 409, code: "OperationAborted" }, /Try again later/, "safe-with-same-key"],
    [{ refuse: 507 }, /Make room/, "after-human"],
    [{ refuse: 403, code: "QuotaExceeded" }, /quota/, "after-human"],
    [{ refuse: 413 }, /in parts/, "after-human"],
    [{ refuse: 418 }, /logs/, "after-human"],
    [{ refuse: 200, body: "<html>Welcome</html>" }, /speaks S3/, "after-human"],
    [{ refuse: 200, body: "no XML at all <" }, /speaks S3/, "after-human"],
    [
      {
        refuse: 200,
        body: '<!DOCTYPE x [<!ENTITY a "b">]><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'
      },
      /speaks S3/,
      "after-human"
    ],
    [
      { refuse: 200, body: "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>" },
      /speaks S3/,
      "after-human"
    ],
    ["reset", /network/, "safe-with-same-key"],
    ["lose", /network/, "safe-with-same-key"],
    [{ cut: 40 }, /between this machine/, "safe-with-same-key"]
  ]

  for (const [made, next, retry] of refusals) {
    it.effect(`says what to do about ${JSON.stringify(made)}`, () =>
      Effect.gen(function* () {
        const { store } = yield* ready(once)
        trouble(made)
        const verbs: ReadonlyArray<Effect.Effect<unknown, ArtifactStoreError>> = [
          store.list(scope),
          put(store, "x"),
          store.head(scope, `art_${"a".repeat(22)}`)
        ]
        for (const verb of verbs) {
          const error = yield* Effect.flip(verb)
          assert.deepInclude(error, { reason: "Unavailable", retry, outcome: "not-applied" })
          assert.match(error.next, next)
          assert.match(error.message, /^[\x20-\x7e]{1,2000}$/)
        }
        assert.isFalse(server.seen.some(({ key }) => key.includes("stolen")))
        server.reset()
        assert.deepStrictEqual(yield* refs(store), [])
      })
    )
  }

  it.effect("tries again what may succeed, as the schedule says, and nothing else", () =>
    Effect.gen(function* () {
      const { store } = yield* ready({ retry: Schedule.recurs(2) })
      const tries = (made: S3Server.Trouble) =>
        Effect.gen(function* () {
          server.seen.length = 0
          trouble(made)
          yield* Effect.flip(store.list(scope))
          return server.seen.length
        })
      assert.strictEqual(yield* tries({ refuse: 503, code: "SlowDown" }), 3)
      assert.strictEqual(yield* tries("reset"), 3)
      assert.strictEqual(yield* tries({ cut: 5 }), 3)
      assert.strictEqual(yield* tries({ refuse: 403, code: "AccessDenied" }), 1)
      // Once more with the store's time, and no more than that.
      assert.strictEqual(yield* tries({ refuse: 403, code: "RequestTimeTooSkewed" }), 2)
    })
  )

  it.effect("takes the store's time for its own when the store does not take this machine's", () =>
    Effect.gen(function* () {
      const store = yield* S3Server.open(S3Server.options(server, once))
      const ref = yield* put(store, "x")
      assert.deepStrictEqual(yield* refs(store), [ref])
      const dates = server.seen.map(({ headers }) => String(headers["x-amz-date"]).slice(0, 4))
      assert.deepStrictEqual(dates.slice(0, 2), ["1970", String(new Date().getUTCFullYear())])
      assert.strictEqual(dates.filter((year) => year === "1970").length, 1)
    })
  )

  it.live("gives up on what does not answer in time", () =>
    Effect.gen(function* () {
      const { store } = yield* ready({ ...once, timeout: "40 millis" })
      trouble("hang")
      const error = yield* Effect.flip(store.list(scope))
      assert.match(error.message, /did not answer in time.*40 ms.*timeout/)
      server.reset()
      const { meta } = yield* Effect.retry(stream(store, new Uint8Array(9)), Schedule.recurs(20))
      trouble("hang", ({ key }) => key.includes("/bytes/"))
      const given = yield* Effect.flatten(Effect.retry(store.getStream!(scope, meta.ref), Schedule.recurs(20)))
      assert.match((yield* Effect.flip(Stream.runDrain(given.body))).message, /in time/)
    })
  )

  it.effect("says that a body broke off, and gives none of it as whole", () =>
    Effect.gen(function* () {
      const { store } = yield* ready(once)
      const ref = yield* put(store, "0123456789")
      const isBytes = ({ key, method }: S3Server.Seen) => method === "GET" && key.includes("/bytes/")
      trouble({ cut: 4 }, isBytes)
      const cut = yield* Effect.flip(store.get(scope, ref))
      assert.strictEqual(cut.reason, "Unavailable")
      const { body } = Option.getOrThrow(yield* store.getStream!(scope, ref))
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(body))).reason, "Unavailable")
      trouble({ cut: 4, lies: true }, isBytes)
      assert.strictEqual((yield* Effect.flip(store.get(scope, ref))).reason, "DigestMismatch")
    })
  )

  it.effect("says so also over a client that takes a short body for a whole one", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready(once)
      const ref = yield* put(store, "0123456789")
      const short = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) =>
          HttpClient.transform(client, (answered, request) =>
            Effect.gen(function* () {
              const response = yield* answered
              if (!request.url.includes("/bytes/")) return response
              const bytes = new Uint8Array(yield* response.arrayBuffer).subarray(0, 4)
              return HttpClientResponse.fromWeb(request, new Response(bytes, { headers: response.headers }))
            })
          )
        )
      ).pipe(Layer.provide(FetchHttpClient.layer))
      const over = yield* S3Server.open(given, short)
      assert.match((yield* Effect.flip(over.get(scope, ref))).message, /broke off.*4 of 10 bytes/)
      const { body } = Option.getOrThrow(yield* over.getStream!(scope, ref))
      assert.match((yield* Effect.flip(Stream.runDrain(body))).message, /broke off.*4 of 10 bytes/)
    })
  )

  it.effect("reads no more of a body than was put, whatever the store gives", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready(once)
      const ref = yield* put(store, "0123456789")
      const [key = ""] = server.keys(given.prefix).filter((key) => key.includes("/bytes/"))
      fs.appendFileSync(server.fileOf(key), new Uint8Array(4 * mebi))
      assert.strictEqual((yield* Effect.flip(store.get(scope, ref))).reason, "DigestMismatch")
    })
  )

  it.effect("stores a put once, whichever of its replies is lost", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready()
      yield* put(store, "x")
      const requests = server.seen.length
      assert.strictEqual(requests, 3)
      for (let n = 0; n < requests; n++) {
        for (const made of ["lose", "reset", { refuse: 500, done: true }, { refuse: 503, code: "SlowDown" }] as const) {
          troubleAt(n, made)
          const ref = yield* put(store, `${n}`)
          server.reset()
          assert.strictEqual(Option.getOrThrow(yield* store.get(scope, ref)).data, `${n}`)
        }
      }
      assert.strictEqual((yield* refs(store)).length, 1 + 4 * requests)
      assert.strictEqual(server.keys(given.prefix).length, 2 * (1 + 4 * requests))
    })
  )

  it.effect("stores a put whole or not at all, whichever of its requests fails", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready({ ...once, maxCountPerScope: 1 })
      const first = yield* put(store, "first")
      for (const made of ["lose", { refuse: 500 }, { refuse: 403, code: "AccessDenied" }] as const) {
        for (let n = 0; n < 9; n++) {
          const before = yield* refs(store)
          troubleAt(n, made)
          const ref = yield* Effect.either(put(store, `${n}`))
          server.reset()
          const after = yield* refs(store)
          if (Either.isLeft(ref)) assert.deepStrictEqual(after, before)
          else assert.include(after, ref.right)
          for (const ref of after) assert.isTrue(Option.isSome(yield* store.get(scope, ref)))
        }
      }
      assert.notInclude(yield* refs(store), first)
      yield* repaired(given)
    })
  )

  it.effect("removes what it wrote of a put that fails for good", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready(once)
      trouble({ refuse: 500 }, ({ key, method }) => method === "PUT" && key.includes("/tickets/"))
      assert.deepInclude(yield* Effect.flip(put(store, "x")), { reason: "Unavailable", outcome: "not-applied" })
      assert.deepStrictEqual(server.keys(given.prefix), [])
    })
  )

  it.effect("does not say that a put failed, or that it did not, when nobody knows", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready(once)
      trouble("lose", ({ key }) => key.includes("/tickets/"))
      const error = yield* Effect.flip(put(store, "x"))
      assert.deepInclude(error, { reason: "Unavailable", outcome: "unknown", retry: "after-human" })
      assert.match(error.next, /List the scope/)
      server.reset()
      yield* refs(store)
      yield* repaired(given)
    })
  )

  it.effect("stores a stream in parts whole or not at all, whichever of its requests fails", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready({ ...once, partBytes: 5 * mebi })
      const bytes = new Uint8Array(5 * mebi + 1).fill(7)
      yield* stream(store, bytes)
      const requests = server.seen.length
      for (const made of ["lose", { refuse: 403, code: "AccessDenied" }] as const) {
        for (let n = made === "lose" ? 0 : requests - 2; n < requests; n++) {
          const before = yield* refs(store)
          troubleAt(n, made)
          const result = yield* Effect.either(stream(store, bytes))
          server.reset()
          const after = yield* refs(store)
          if (Either.isLeft(result)) assert.deepStrictEqual(after, before)
          else assert.include(after, result.right.meta.ref)
        }
      }
      yield* repaired(given)
    })
  )

  it.effect("takes an answer to the end of an upload that is a refusal for one", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready({ ...once, partBytes: 5 * mebi })
      trouble(
        { refuse: 200, body: "<Error><Code>InternalError</Code></Error>" },
        ({ method, query }) => method === "POST" && query.has("uploadId")
      )
      const error = yield* Effect.flip(stream(store, new Uint8Array(6 * mebi)))
      assert.match(error.message, /InternalError/)
      assert.deepStrictEqual(server.uploads(), [])
      assert.deepStrictEqual(server.keys(given.prefix), [])
    })
  )

  it.effect("deletes for good, whichever of its requests fails once", () =>
    Effect.gen(function* () {
      const { given, store } = yield* ready()
      for (let n = 0; n < 3; n++) {
        const ref = yield* put(store, "x")
        troubleAt(n, "lose")
        yield* store.delete(scope, ref)
        server.reset()
        assert.deepStrictEqual(server.keys(given.prefix), [])
      }
    })
  )

  it.effect("works with a store that has no conditional writes, if it is told so", () =>
    Effect.gen(function* () {
      const { store } = yield* ready(once)
      server.conditional = "refused"
      assert.match((yield* Effect.flip(put(store, "x"))).next, /conditionalWrites to false/)
      const { store: plain } = yield* ready({ ...once, conditionalWrites: false })
      const ref = yield* put(plain, "x")
      assert.deepStrictEqual(yield* refs(plain), [ref])
    })
  )
})

const canaries = { accessKeyId: "AKIACANARYKEY", secretAccessKey: "canary+secret/key", sessionToken: "canary-session" }

describe("S3ArtifactStore's credentials", () => {
  const secret = {
    accessKeyId: Redacted.make(canaries.accessKeyId),
    secretAccessKey: Redacted.make(canaries.secretAccessKey),
    sessionToken: Redacted.make(canaries.sessionToken)
  }

  it.effect("are in no error, no log and no span, whatever the store says", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const tell = (value: unknown) =>
        told.push(inspect(value, { depth: 9, showHidden: true }), JSON.stringify(value) ?? "", String(value))
      const logger = Logger.make(({ annotations, cause, message }) => {
        tell([message, annotations, cause])
      })
      const logging = Logger.replace(Logger.defaultLogger, logger)
      const native = yield* Effect.tracer
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (...given) => {
          const span = native.span(...given)
          spans.push(span)
          return span
        },
        context: native.context
      })
      const troubles: ReadonlyArray<S3Server.Trouble | undefined> = [
        undefined,
        "reset",
        "lose",
        { cut: 3 },
        { refuse: 403, code: canaries.accessKeyId },
        { refuse: 400, code: "InvalidRequest", region: canaries.secretAccessKey },
        { refuse: 500, code: canaries.sessionToken },
        { refuse: 307, location: "http://127.0.0.1:9/" },
        { refuse: 200, body: `<Error><Code>${canaries.secretAccessKey}</Code></Error>` },
        { refuse: 200, body: canaries.sessionToken }
      ]
      for (const made of troubles) {
        const given = S3Server.options(server, { ...once, credentials: secret })
        server.trouble = () => made
        const store = yield* S3Server.open(given)
        tell(store)
        tell(given.credentials)
        const verbs: ReadonlyArray<Effect.Effect<unknown, ArtifactStoreError>> = [
          put(store, "x"),
          store.list(scope),
          stream(store, new Uint8Array(9)),
          S3Server.verify(given)
        ]
        for (const verb of verbs) {
          const used = verb.pipe(
            Effect.tapErrorCause(Effect.logError),
            Effect.withSpan("outer"),
            Effect.withTracer(tracer),
            Effect.provide(logging)
          )
          const cause = yield* Effect.flip(Effect.sandbox(used))
          tell(cause)
          told.push(Cause.pretty(cause), ...Array.from(Cause.failures(cause), ({ stack = "" }) => stack))
        }
      }
      for (const { attributes, name } of spans) tell([name, Array.from(attributes)])
      const all = told.join("\n")
      assert.isAbove(told.length, 300)
      for (const canary of [...Object.values(canaries), scope.tenant!]) assert.notInclude(all, canary)
    })
  )

  it.effect("are sent signed, with their session, to the endpoint alone", () =>
    Effect.gen(function* () {
      const store = yield* S3Server.open(S3Server.options(server, { ...once, credentials: secret }))
      trouble({ refuse: 403, code: "AccessDenied" })
      yield* Effect.flip(store.list(scope))
      const [first] = server.seen
      assert.match(
        String(first?.headers.authorization),
        /^AWS4-HMAC-SHA256 Credential=AKIACANARYKEY\/19700101\/us-east-1\/s3\//
      )
      assert.match(String(first?.headers.authorization), /SignedHeaders=[^,]*x-amz-security-token/)
      assert.strictEqual(first?.headers["x-amz-security-token"], canaries.sessionToken)
      assert.notInclude(JSON.stringify(first?.headers), canaries.secretAccessKey)
      assert.isUndefined(first?.headers.traceparent)
    }).pipe(Effect.withSpan("outer"))
  )

  it.effect("are asked for before each request, so that they can be renewed", () =>
    Effect.gen(function* () {
      let asked = 0
      const credentials = Effect.sync(() => {
        asked++
        return {
          accessKeyId: Redacted.make(S3Server.credentials.accessKeyId),
          secretAccessKey: Redacted.make(asked === 2 ? "expired" : S3Server.credentials.secretAccessKey)
        }
      })
      const store = yield* S3Server.open(S3Server.options(server, { ...once, credentials }))
      // The first request is sent twice, for the time.
      assert.match((yield* Effect.flip(store.list(scope))).message, /SignatureDoesNotMatch.*secretAccessKey/)
      assert.deepStrictEqual(yield* refs(store), [])
      const none = failure("Unavailable", { what: "The vault is shut." })
      const shut = yield* S3Server.open(S3Server.options(server, { credentials: Effect.fail(none) }))
      assert.strictEqual((yield* Effect.flip(shut.list(scope))).what, none.what)
    })
  )
})

describe("S3ArtifactStore's options", () => {
  const wrong: ReadonlyArray<readonly [string, object]> = [
    ["endpoint", { endpoint: "nowhere" }],
    ["endpoint", { endpoint: "ftp://host" }],
    ["endpoint", { endpoint: "http://canary:canary@host" }],
    ["endpoint", { endpoint: "http://host/?canary" }],
    ["bucket", { bucket: "a/b" }],
    ["bucket", { bucket: ".." }],
    ["region", { region: "eu west" }],
    ["prefix", { prefix: "/a" }],
    ["prefix", { prefix: "a/../b" }],
    ["prefix", { prefix: "a/" }],
    ["prefix", { prefix: "a b" }],
    ["partBytes", { partBytes: 1 }],
    ["limits", { maxCountPerScope: 0 }],
    ["credentials.accessKeyId", { credentials: { accessKeyId: "canary", secretAccessKey: "canary" } }],
    [
      "credentials.secretAccessKey",
      { credentials: { accessKeyId: Redacted.make("a"), secretAccessKey: Redacted.make("canary\n") } }
    ]
  ]
  for (const [path, more] of wrong) {
    it.effect(`are refused: ${path} of ${JSON.stringify(more)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(S3Server.open(S3Server.options(server, more)))
        assert.deepInclude(error, { reason: "InvalidInput", path })
        assert.notInclude(JSON.stringify(error), "canary")
        assert.strictEqual(server.seen.length, 0)
      })
    )
  }
})
