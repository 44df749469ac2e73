import { Type } from 'typebox'
import { eventType, Nullable, Text, Timestamp, Url } from './common.ts'

export const click = eventType(
  2,
  Type.Object({
    url: Url,
    /** Attributes of the clicked element; any further keys are kept. */
    element: Type.Object({ ariaLabel: Nullable(Text), className: Text }),
    /** Short and stable: an id, a data attribute, or a path. */
    elementIdentifier: Text,
    /** Its text; its label where it has none. */
    elementText: Text,
    coordinates: Type.Object({ x: Type.Number(), y: Type.Number() }),
    /** Of links that do not lead to a page of the same site. */
    link: Type.Optional(Type.Enum(['outbound', 'tel', 'mailto'])),
    timestamp: Timestamp,
  }),
)
