import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidParameter } from './errors.ts'

/**
 * The cursors of one list. `owner` is whose list it is: the id of the organization, or of the project where each has
 * a list of its own.
 */
export interface ListCursors<Place> {
  /** A cursor as callers see it: opaque, safe in a URL. `place` is any JSON. */
  write(owner: string, place: Place): string
  /** The place that was written. Throws 400 for a cursor of another list or owner, or one that was changed. */
  read(owner: string, cursor: string): Place
}

/** Makes the cursors of the list of that name; a list whose places change takes another name. */
export type Cursors = <Place>(list: string) => ListCursors<Place>

/** Bytes of a signature: no page is worth guessing 128 bits for. */
const signatureBytes = 16

/** The cursors of all lists, signed with `key` (HMAC-SHA-256), so that every process reads what another wrote. */
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
          // Node skips characters that base64url does not have.
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
