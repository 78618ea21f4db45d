import { strFromU8, unzipSync } from "fflate"
import { readFileSync } from "node:fs"
import * as Chat from "./Chat.ts"
import { fields, type Fields, files, objects, parse, text } from "./Loose.ts"

const chatOf = (sample: Fields): Chat.Chat =>
  objects(sample["messages"]).map(({ content, role, tool_call_id: id, tool_calls: calls }) =>
    role === "assistant" && calls !== undefined && calls !== null
      ? Chat.called(
          objects(calls).map(({ arguments: args, function: name, id: callId }) => ({
            id: text(callId),
            name: text(name),
            args
          })),
          text(content ?? "")
        )
      : { role, content: content ?? "", ...(id === undefined ? {} : { tool_call_id: id }) }
  )

/** The samples of a log that is a zip of one file each. */
const zipped = (path: string): ReadonlyArray<Fields> =>
  Object.entries(unzipSync(readFileSync(path), { filter: ({ name }) => name.startsWith("samples/") }))
    .toSorted(([one], [other]) => one.localeCompare(other, "en", { numeric: true }))
    .map(([, bytes]) => fields(JSON.parse(strFromU8(bytes))))

export const read = (folder: string): Chat.Read => {
  const samples = [
    ...files(folder, ".json").flatMap((path) => objects(fields(parse(path))["samples"])),
    ...files(folder, ".eval").flatMap(zipped)
  ]
  return { chats: samples.map(chatOf), unread: [] }
}
