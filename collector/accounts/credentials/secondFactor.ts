import { randomBytes } from 'node:crypto'
import { sha256 } from '../../api/access/authenticate.ts'
import { requireToken } from '../../api/access/tries.ts'
import { unauthorized } from '../../api/http/errors.ts'
import type { SecretBox } from '../../platform/outbound/secretBox.ts'
import { mailTo } from '../../platform/outbox/mails.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { factorRemovedNotice } from './notices.ts'
import { base32, stepOfCode } from './totp.ts'

/** As long as SHA-1's digest, as RFC 4226 (4, R6) recommends. */
const secretBytes = 20
const recoveryCodesCount = 10
/** 80 bits each, so a plain hash is safe. */
const recoveryCodeBytes = 10

export interface SecondFactorDeps {
  postgres: Postgres
  /** Keeps what makes the codes. */
  secretBox: SecretBox
}

const purposeOf = (userId: string): string => `second_factor:${userId}`

/**
 * Creates a new secret for a user, which sign-in ignores until `confirmSecondFactor`. Replaces an unconfirmed
 * secret. Returns null if the user has a confirmed one.
 */
export async function beginSecondFactor(
  { postgres, secretBox }: SecondFactorDeps,
  userId: string,
): Promise<Buffer | null> {
  const secret = randomBytes(secretBytes)
  const { rowCount } = await postgres.query(
    `INSERT INTO second_factors (user_id, secret) VALUES ($1, $2)
     ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = now()
     WHERE second_factors.confirmed_at IS NULL`,
    [userId, secretBox.seal(secret.toString('base64'), purposeOf(userId))],
  )
  return rowCount === 0 ? null : secret
}

/** Activates the second factor if the code is valid. Call it in a transaction, with the tries limited. */
export async function confirmSecondFactor(
  client: Queryable,
  secretBox: SecretBox,
  userId: string,
  code: string,
): Promise<boolean> {
  const factor = await readFactor(client, userId, 'confirmed_at IS NULL')
  if (!factor || !(await useTotp(client, secretBox, userId, factor, plainCode(code)))) return false
  await client.query('UPDATE second_factors SET confirmed_at = now() WHERE user_id = $1', [userId])
  return true
}

/** Replaces all recovery codes and returns the new ones, which are never shown again. Call it in a transaction. */
export async function newRecoveryCodes(client: Queryable, userId: string): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodesCount }, () =>
    base32(randomBytes(recoveryCodeBytes))
      .toLowerCase()
      .replace(/.{4}(?=.)/g, '$&-'),
  )
  await client.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId])
  await client.query(
    'INSERT INTO recovery_codes (user_id, code_sha256) SELECT $1, unnest($2::bytea[])',
    [userId, codes.map((code) => sha256(plainCode(code)))],
  )
  return codes
}

/** The time since when sign-in requires codes, and the number of unused recovery codes; null if it requires none. */
export async function readSecondFactor(
  client: Queryable,
  userId: string,
): Promise<{ since: Date; recoveryCodesLeft: number } | null> {
  const { rows } = await client.query<{ since: Date; codes: number }>(
    `SELECT confirmed_at AS since, (SELECT count(*)::int FROM recovery_codes WHERE user_id = $1) AS codes
     FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL`,
    [userId],
  )
  return rows[0] ? { since: rows[0].since, recoveryCodesLeft: rows[0].codes } : null
}

/** Removes a user's second factor and reports it by mail. False: there was none. Call it in a transaction. */
export async function removeSecondFactor(client: Queryable, userId: string): Promise<boolean> {
  const { rows } = await client.query<{ email: string }>(
    `DELETE FROM second_factors USING users
     WHERE second_factors.user_id = $1 AND users.user_id = $1 RETURNING email`,
    [userId],
  )
  if (!rows[0]) return false
  await mailTo(client, rows[0].email, factorRemovedNotice)
  return true
}

/** Removes a second factor that was confirmed before the user's address was proven. False: there was none. */
export async function removeUnprovenFactor(client: Queryable, userId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `DELETE FROM second_factors USING users
     WHERE second_factors.user_id = $1 AND users.user_id = $1
       AND (email_proven_at IS NULL OR confirmed_at < email_proven_at)`,
    [userId],
  )
  return rowCount! > 0
}

/**
 * Throws if the user has a second factor and the code is invalid. Without a code 401
 * "second_factor_required", for a wrong or used code "invalid_code", for too many tries 429 "rate_limited".
 * Call it only after the password was checked, or it would reveal who has a second factor.
 */
export async function requireSecondFactor(
  { postgres, secretBox }: SecondFactorDeps,
  userId: string,
  code: string | undefined,
  knownBrowser: string | null,
): Promise<void> {
  const factor = await readFactor(postgres, userId, 'confirmed_at IS NOT NULL')
  if (!factor) return
  if (!code) throw unauthorized.secondFactorRequired()
  await takeCodeTry(postgres, userId, knownBrowser)
  const plain = plainCode(code)
  const isGood =
    (await useTotp(postgres, secretBox, userId, factor, plain)) ||
    (await useRecoveryCode(postgres, userId, plain))
  if (!isGood) throw unauthorized.code()
}

/**
 * A caller that tries codes already has the password. So tries count by account, from any address, and are
 * never restored. Three of a million codes are valid at a time: a year of tries finds one in ten. A browser
 * that has signed in has tries of its own, so that an attacker cannot lock the user out.
 */
export const takeCodeTry = (
  postgres: Postgres,
  userId: string,
  knownBrowser: string | null,
): Promise<void> =>
  requireToken(postgres, [
    {
      name: knownBrowser
        ? `second_factor_browser:${knownBrowser}:${userId}`
        : `second_factor:${userId}`,
      burst: 10,
      everySeconds: 900,
    },
  ])

interface Factor {
  secret: string
}

async function readFactor(
  client: Queryable,
  userId: string,
  condition: string,
): Promise<Factor | undefined> {
  const { rows } = await client.query<Factor>(
    `SELECT secret FROM second_factors WHERE user_id = $1 AND ${condition}`,
    [userId],
  )
  return rows[0]
}

/** Whether six digits are a current code, which is then used. Of two simultaneous uses one succeeds. */
async function useTotp(
  client: Queryable,
  secretBox: SecretBox,
  userId: string,
  { secret }: Factor,
  code: string,
): Promise<boolean> {
  if (!/^\d{6}$/.test(code)) return false
  const step = stepOfCode(
    Buffer.from(secretBox.open(secret, purposeOf(userId)), 'base64'),
    code,
    Date.now(),
  )
  if (step === null) return false
  const { rowCount } = await client.query(
    'UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2',
    [userId, step],
  )
  return rowCount === 1
}

async function useRecoveryCode(client: Queryable, userId: string, code: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'DELETE FROM recovery_codes WHERE user_id = $1 AND code_sha256 = $2',
    [userId, sha256(code)],
  )
  return rowCount === 1
}

/** As people type it: "123 456", "ABCD-efgh-…". */
const plainCode = (code: string): string => code.toLowerCase().replace(/[\s-]/g, '')
