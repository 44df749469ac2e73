import { hash, verify } from '@node-rs/argon2'
import { busy } from '../http/errors.ts'

/** Most passwords that may wait for their check in one process. */
const waitingMax = 100

/**
 * Hashing takes tens of milliseconds of a thread that also writes beacons to disk. So it hashes one password
 * at a time.
 */
let last: Promise<unknown> = Promise.resolve()
let waiting = 0

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= waitingMax)
    throw busy('Too many people are signing in right now. Try again in a few seconds.', 5)
  waiting++
  const mine = last.then(work).finally(() => waiting--)
  last = mine.catch(() => {})
  return mine
}

/** The same characters typed on another keyboard make the same password (NIST SP 800-63B, 5.1.1.2). */
const normal = (password: string) => password.normalize('NFKC')

/** argon2id with OWASP's least parameters, the library's default: 19 MiB, two passes. */
export const hashPassword = (password: string): Promise<string> =>
  inTurn(() => hash(normal(password)))

/** Hash to check a password against if there is no member, so that the time reveals nothing. */
let nobodysHash: Promise<string> | null = null

/**
 * Whether the password matches the hash. Without a hash it returns false after the same time; an invalid hash
 * matches no password.
 */
export async function checkPassword(
  passwordHash: string | null,
  password: string,
): Promise<boolean> {
  nobodysHash ??= hashPassword('nobody’s')
  const against = passwordHash ?? (await nobodysHash)
  const matches = await inTurn(() => verify(against, normal(password)).catch(() => false))
  return matches && passwordHash !== null
}
