import { hash, verify } from '@node-rs/argon2'
import { busy } from '../http/errors.ts'

/** The owner of a password. Every customer can create share links, and cause checks of their passwords. */
type Kind = 'account' | 'share'

/** Most passwords of each kind that may wait for their check in one process. */
const waitingMax = 100

/**
 * Hashing takes tens of milliseconds of a thread that also writes beacons to disk. So one password is hashed at a
 * time. Those of accounts come first, so that share links cannot keep anybody from signing in.
 */
const waiting: Record<Kind, (() => Promise<void>)[]> = { account: [], share: [] }
let isHashing = false

function inTurn<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
  if (waiting[kind].length >= waitingMax)
    throw busy('Too many passwords are being checked right now. Try again in a few seconds.', 5)
  return new Promise<T>((resolve, reject) => {
    waiting[kind].push(() => work().then(resolve, reject))
    if (!isHashing) void hashWaiting()
  })
}

async function hashWaiting(): Promise<void> {
  isHashing = true
  for (let next = nextWaiting(); next; next = nextWaiting()) await next()
  isHashing = false
}

const nextWaiting = () => waiting.account.shift() ?? waiting.share.shift()

/** The same characters typed on another keyboard make the same password (NIST SP 800-63B, 5.1.1.2). */
const normal = (password: string) => password.normalize('NFKC')

/** argon2id with OWASP's least parameters, the library's default: 19 MiB, two passes. */
export const hashPassword = (password: string, kind: Kind = 'account'): Promise<string> =>
  inTurn(kind, () => hash(normal(password)))

/** Hash to check a password against if there is no member, so that the time reveals nothing. */
let nobodysHash: Promise<string> | null = null

/**
 * Whether the password matches the hash. Without a hash it returns false after the same time; an invalid hash
 * matches no password.
 */
export async function checkPassword(
  passwordHash: string | null,
  password: string,
  kind: Kind = 'account',
): Promise<boolean> {
  nobodysHash ??= hashPassword('nobody’s')
  const against = passwordHash ?? (await nobodysHash)
  const matches = await inTurn(kind, () => verify(against, normal(password)).catch(() => false))
  return matches && passwordHash !== null
}
