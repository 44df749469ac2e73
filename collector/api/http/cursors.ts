import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidParameter } from './errors.ts'

/** The cursors of one list. `owner` is the organization, or the project if each has its own list. */
export interface ListCursors<Place> {
  /** Returns a cursor for callers: opaque, and safe in a URL. `place` is any JSON value. */
  write(owner: string, place: Place): string
  /** Returns the place in a cursor. Throws 400 for a modified cursor, or one of another list or owner. */
  read(owner: string, cursor: string): Place
}

/** Creates the cursors of the list with this name; a list whose places change gets a new name. */
export type Cursors = <Place>(list: string) => ListCursors<Place>

/** Bytes of a signature: 128 bits prevent guessing. */
const signatureBytes = 16

/** Creates the cursors of all lists. Every process accepts those of the others. */
export function openCursors(key: Buffer): Cursors {
  return <Place>(list: string): ListCursors<Place> => {
    const sign = (owner: string, place: string) =>
      createHmac('sha256', key)
        .update(JSON.stringify([list, owner, place]))
        .digest()
        .subarray(0, signatureBytes)
    return {
      write(owner, place) {
        const text = JSON.stringify(place)
        return Buffer.concat([sign(owner, text), Buffer.from(text)]).toString('base64url')
      },
      read(owner, cursor) {
        const bytes = Buffer.from(cursor, 'base64url')
        const text = bytes.toString('utf8', signatureBytes)
        const isOurs =
          bytes.length > signatureBytes &&
          timingSafeEqual(bytes.subarray(0, signatureBytes), sign(owner, text)) &&
          // Node ignores characters outside of base64url, so the comparison rejects them.
          bytes.toString('base64url') === cursor
        if (!isOurs) {
          throw invalidParameter(
            'cursor',
            'must be a next_cursor of this list. Pass it unchanged, or omit it to start again.',
          )
        }
        return JSON.parse(text) as Place
      },
    }
  }
}
