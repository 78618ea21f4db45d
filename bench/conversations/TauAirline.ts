import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Read } from "./Chat.ts"

export const read = (folder: string): Read => ({
  chats: readFileSync(join(folder, "openai-chat.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)),
  unread: []
})
