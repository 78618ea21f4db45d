import S3rver from "@20minutes/s3rver"
import { FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted, Schedule } from "effect"
import * as fs from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as S3ArtifactStore from "../../src/services/S3ArtifactStore.ts"

/** A request as the server sees it; `key` has no bucket in it, and is empty for one about the bucket. */
export interface Seen {
  readonly method: string
  readonly key: string
  readonly query: URLSearchParams
  readonly headers: http.IncomingHttpHeaders
}

/**
 * What goes wrong with a request. `refuse` answers, `hang` never does, nor does `hold`, after it was done, `reset` breaks off before anything is done, `lose`
 * after it was done, and `cut` in the middle of the answer's body, with the length that it was to have or, if `lies`,
 * with that which it has.
 */
export type Trouble =
  | {
      readonly refuse: number
      /** Whether it was done all the same. */
      readonly done?: boolean
      readonly code?: string
      readonly region?: string
      readonly location?: string
      readonly body?: string
    }
  | "hang"
  | "hold"
  | "reset"
  | "lose"
  | { readonly cut: number; readonly lies?: boolean }

const bucket = "artifacts"

const errorOf = (code: string, region?: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code>${region === undefined ? "" : `<Region>${region}</Region>`}<Message>no</Message></Error>`

const refuse = (response: http.ServerResponse, refusal: Extract<Trouble, { readonly refuse: number }>): void => {
  const { body, code, location, refuse, region } = refusal
  response.writeHead(refuse, { ...(location === undefined ? {} : { location }), date: new Date().toUTCString() })
  response.end(body ?? (code === undefined ? "no" : errorOf(code, region)))
}

/** The server's own test account. */
export const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }

/**
 * A real server of the protocol, which checks signatures and clocks, behind another that adds what it lacks (writes for
 * absent keys, the end and the list of uploads, lists of more than a page) and that makes trouble.
 */
export class S3Server {
  readonly directory = fs.mkdtempSync(join(tmpdir(), "s3-"))
  readonly seen: Array<Seen> = []
  /** Whether writes for absent keys are taken, ignored, or refused. */
  conditional: "taken" | "ignored" | "refused" = "taken"
  trouble: (request: Seen) => Trouble | undefined = () => undefined
  /** Done before a request is, for what has to come in between. */
  before: (request: Seen) => void = () => undefined
  /** Called when a request was done that is not answered. */
  held: () => void = () => undefined
  #backend: { readonly server: S3rver; readonly port: number } | undefined
  #front: http.Server | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #agent = new http.Agent({ keepAlive: true })

  get endpoint(): string {
    const { port } = this.#front!.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  async start(): Promise<void> {
    const { directory } = this
    const server = new S3rver({
      address: "127.0.0.1",
      port: 0,
      silent: true,
      directory,
      configureBuckets: [{ name: bucket }]
    })
    const { port } = await server.run()
    this.#backend = { server, port }
    this.#front = http.createServer((request, response) => void this.#answer(request, response))
    await new Promise<void>((resolve) => this.#front!.listen(0, "127.0.0.1", resolve))
  }

  async stop(): Promise<void> {
    this.#front?.closeAllConnections()
    await new Promise((resolve) => this.#front?.close(resolve))
    this.#agent.destroy()
    await this.#backend?.server.close()
    fs.rmSync(this.directory, { recursive: true, force: true })
  }

  /** Makes no trouble and forgets what it saw. */
  reset(): void {
    this.trouble = () => undefined
    this.before = () => undefined
    this.conditional = "taken"
    this.seen.length = 0
  }

  /** The keys under a prefix, in order. */
  keys(prefix = ""): ReadonlyArray<string> {
    const suffix = "._S3rver_object"
    return fs
      .readdirSync(join(this.directory, bucket), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .filter((key) => key.startsWith(prefix))
      .sort()
  }

  /** The file that holds an object. */
  fileOf(key: string): string {
    return join(this.directory, bucket, `${key}._S3rver_object`)
  }

  /** Puts bytes under a key, past the store. */
  write(key: string, bytes: Uint8Array | string): void {
    fs.mkdirSync(join(this.fileOf(key), ".."), { recursive: true })
    fs.writeFileSync(this.fileOf(key), bytes)
  }

  /** Makes an object or an upload look as if it were made long ago. */
  age(path: string, ms = 7_200_000): void {
    const then = (Date.now() - ms) / 1_000
    fs.utimesSync(path, then, then)
  }

  uploadDirectory(id = ""): string {
    return join(this.directory, bucket, "._S3rver_uploads", id)
  }

  /** The uploads that are neither complete nor aborted. */
  uploads(): ReadonlyArray<string> {
    return fs.existsSync(this.uploadDirectory()) ? fs.readdirSync(this.uploadDirectory()) : []
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.endpoint)
    const seen: Seen = {
      method: request.method ?? "",
      key: pathname.split("/").slice(2).join("/"),
      query: searchParams,
      headers: request.headers
    }
    this.seen.push(seen)
    const pieces: Array<Buffer> = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    const trouble = this.trouble(seen)
    if (trouble === "hang") return
    if (trouble === "reset") return void response.destroy()
    const isRefused = typeof trouble === "object" && "refuse" in trouble
    if (isRefused && trouble.done !== true) return refuse(response, trouble)
    const turn = this.#turn.then(() => {
      this.before(seen)
      return this.#own(seen) ?? this.#pass(request, body)
    })
    this.#turn = turn.catch(() => undefined)
    const answered = await turn
    if (trouble === "hold") return void this.held()
    if (trouble === "lose") return void response.destroy()
    if (isRefused) return refuse(response, trouble)
    const headers = { ...answered.headers }
    delete headers["transfer-encoding"]
    if (typeof trouble === "object") {
      const some = answered.body.subarray(0, trouble.cut)
      response.writeHead(answered.status, {
        ...headers,
        "content-length": trouble.lies ? some.length : answered.body.length
      })
      response.write(some, () => (trouble.lies ? response.end() : setTimeout(() => response.destroy(), 20)))
      return
    }
    if (seen.method !== "HEAD" && answered.status !== 204) headers["content-length"] = String(answered.body.length)
    response.writeHead(answered.status, headers)
    response.end(answered.body)
  }

  /** What the server behind does not do. */
  #own({ headers, key, method, query }: Seen): Answered | undefined {
    const id = query.get("uploadId")
    const own = (status: number, body: string): Answered => ({
      status,
      headers: { "content-type": "application/xml" },
      body: Buffer.from(body)
    })
    const isWrite = (method === "PUT" && id === null) || (method === "POST" && id !== null)
    if (isWrite && headers["if-none-match"] !== undefined && this.conditional !== "ignored") {
      if (this.conditional === "refused") return own(501, errorOf("NotImplemented"))
      if (fs.existsSync(this.fileOf(key))) return own(412, errorOf("PreconditionFailed"))
    }
    if (id !== null && method !== "PUT" && !this.uploads().includes(id)) return own(404, errorOf("NoSuchUpload"))
    if (method === "DELETE" && id !== null) {
      fs.rmSync(this.uploadDirectory(id), { recursive: true })
      return own(204, "")
    }
    if (method === "GET" && query.has("uploads")) {
      const found = this.uploads().flatMap((id) => {
        const at = this.uploadDirectory(id)
        const key = fs.readFileSync(join(at, "key"), "utf8")
        if (!key.startsWith(query.get("prefix") ?? "")) return []
        const initiated = fs.statSync(at).mtime.toISOString()
        return [`<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`]
      })
      return own(
        200,
        `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${found.join("")}</ListMultipartUploadsResult>`
      )
    }
    const wanted = query.has("list-type") ? this.keys(query.get("prefix") ?? "") : []
    const after = Buffer.from(query.get("continuation-token") ?? "", "base64").toString()
    const rest = wanted.filter((key) => key > after)
    const max = Number(query.get("max-keys"))
    if (wanted.length <= max) return undefined
    const page = rest.slice(0, max)
    const next = Buffer.from(page.at(-1) ?? "").toString("base64")
    const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("")
    return own(
      200,
      `<ListBucketResult><IsTruncated>${rest.length > max}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>${contents}</ListBucketResult>`
    )
  }

  #pass(request: http.IncomingMessage, body: Buffer): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const passed = http.request(
        {
          host: "127.0.0.1",
          port: this.#backend!.port,
          method: request.method,
          path: request.url,
          headers: request.headers,
          agent: this.#agent
        },
        (answer) => {
          const pieces: Array<Buffer> = []
          answer.on("data", (piece: Buffer) => pieces.push(piece))
          answer.on("error", reject)
          answer.on("end", () =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(pieces) })
          )
        }
      )
      passed.on("error", reject)
      passed.end(body)
    })
  }
}

interface Answered {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

let prefixes = 0

/** A place of its own in the bucket of the server, unless `prefix` says otherwise. */
export const options = (
  server: S3Server,
  more: Partial<S3ArtifactStore.Options> = {}
): S3ArtifactStore.Options & { readonly prefix: string } => ({
  endpoint: server.endpoint,
  bucket,
  credentials: {
    accessKeyId: Redacted.make(credentials.accessKeyId),
    secretAccessKey: Redacted.make(credentials.secretAccessKey)
  },
  retry: Schedule.recurs(3),
  prefix: `tests/${++prefixes}`,
  ...more
})

/** Opens the store anew, as a program does that starts. */
export const open = (
  given: S3ArtifactStore.Options,
  client: Layer.Layer<HttpClient.HttpClient> = FetchHttpClient.layer
) => Effect.provide(S3ArtifactStore.make(given), client)

export const verify = (given: S3ArtifactStore.Options, repair = false) =>
  Effect.provide(S3ArtifactStore.verify({ ...given, repair }), FetchHttpClient.layer)

/** Another client than `fetch`. */
export const undici = Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, NodeHttpClient.dispatcherLayerGlobal)
