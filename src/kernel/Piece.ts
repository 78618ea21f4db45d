/**
 * A `Piece` is a text that an application puts before the model. It has an id, so that an answer can be traced to it,
 * and asked again without it.
 *
 * @since 0.1.0
 */

export interface Piece {
  /** Unique in its agent. */
  readonly id: string
  readonly kind: "steering" | "fact"
  readonly text: string
}

/** Something that is so, as far as the application knows. */
export const fact = (id: string, text: string): Piece => ({ id, kind: "fact", text })

/** Something that the model should do, or not do. */
export const steering = (id: string, text: string): Piece => ({ id, kind: "steering", text })
