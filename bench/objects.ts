/**
 * A server of the S3 protocol on this machine, which keeps objects in the directory that is named and prints its port. A
 * program of `ArtifactLayers.ts`: in a process of its own, so that what it needs counts for no layer.
 */
import S3rver from "@20minutes/s3rver"

const [, , directory = "", name = ""] = process.argv
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name }]
})
const { port } = await server.run()
console.log(port)
