import { type Static, Type } from 'typebox'
import { Nullable, Text, Timestamp, Url } from './common.ts'

export const click = Type.Object({
  url: Url,
  /** Attributes of the clicked element; any further keys are kept. */
  element: Type.Object({ ariaLabel: Nullable(Text), className: Text }),
  /** Short and stable: an id, a data attribute, or a path. */
  elementIdentifier: Text,
  elementText: Text,
  coordinates: Type.Object({ x: Type.Number(), y: Type.Number() }),
  /** Of links that do not lead to a page of the same site. */
  link: Type.Optional(Type.Enum(['outbound', 'tel', 'mailto'])),
  /** The third or a later click in a row at this place. */
  rage: Type.Optional(Type.Boolean()),
  /** Nothing on the page changed within the moments after. */
  dead: Type.Optional(Type.Boolean()),
  timestamp: Timestamp,
})
export type Click = Static<typeof click>
