import { describe } from "vitest"
import * as Worlds from "./Worlds.ts"

describe("Five hundred more", () => Worlds.hold(501))
