import * as Chat from "./Chat.ts"
import { fields, files, list, objects, parse, text } from "./Loose.ts"

/** Thought, action, observation: an action is a call of a shell; its observation is the result. */
const chatOf = (path: string): Chat.Chat => {
  const { history, trajectory } = fields(parse(path))
  const said = list(history)
    .map(fields)
    .filter(({ role }, index) => (role === "system" || role === "user") && index < 3)
    .map(({ content, role }) => ({ role, content: text(content) }))
  const steps = objects(trajectory).flatMap(({ action, observation, thought }, index) => [
    Chat.called([{ id: `step-${index}`, name: "shell", args: { command: action } }], text(thought)),
    Chat.returned(`step-${index}`, observation)
  ])
  return [...said, ...steps]
}

export const read = (folder: string): Chat.Read => ({ chats: files(folder, ".traj").map(chatOf), unread: [] })
