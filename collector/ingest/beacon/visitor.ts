import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { parseCookie } from 'cookie'
import { isUuid } from '../../../schemas/uuid.ts'
import { dayMs } from '../../platform/days.ts'
import { openDiskCache } from '../../platform/diskCache.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { dayUuidOf } from '../../platform/uuidOfDigest.ts'
import type { BeaconRequest } from './beacon.ts'
import type { ClientInfo } from './clientInfo.ts'
import type { Pixel } from './pixelRegistry.ts'

export interface Visitor {
  cookieId: string
  /** False: nothing may be stored about the visitor. */
  consented: boolean
  /** The Set-Cookie header of the response, if any. */
  setCookie: string | null
}

const visitorCookie = 'footfall'
const thirteenMonthsSeconds = 395 * 86_400

/**
 * Decides a request's cookie_id: the collector's own cookie, otherwise the id from the page, otherwise a new
 * one. Without consent, an id that is valid for one day and not stored in the browser.
 */
export function visitorOf(
  request: BeaconRequest,
  clientInfo: ClientInfo,
  pixel: Pixel,
  sent: { cookieId?: string | undefined; consent?: boolean | undefined },
  dailySalt: string,
): Visitor {
  const header = request.headers.cookie
  const own = header?.includes(`${visitorCookie}=`) ? parseCookie(header)[visitorCookie] : undefined
  if (!hasConsent(request, pixel, sent.consent)) {
    return {
      cookieId: cookielessId(clientInfo, pixel, dailySalt),
      consented: false,
      setCookie: own === undefined ? null : cookieHeader(request, '', 0),
    }
  }
  const cookieId = (isUuid(own) ? own : (sent.cookieId ?? randomUUID())).toLowerCase()
  return {
    cookieId,
    consented: true,
    setCookie: cookieHeader(request, cookieId, thirteenMonthsSeconds),
  }
}

function hasConsent(request: BeaconRequest, pixel: Pixel, sent: boolean | undefined): boolean {
  const { consent, honour_gpc } = pixel.settings
  if (honour_gpc && (request.headers['sec-gpc'] === '1' || request.headers.dnt === '1'))
    return false
  return sent ?? consent === 'granted'
}

/** An id that is stable for a browser until midnight, UTC; afterwards nobody can link the ids. */
function cookielessId({ ip, userAgent }: ClientInfo, pixel: Pixel, dailySalt: string): string {
  const digest = createHash('sha256')
    .update(`${dailySalt}\n${pixel.pixelId}\n${ip}\n${userAgent}`)
    .digest()
  return dayUuidOf(digest)
}

/**
 * Lax if the page is on the collector's own site. Otherwise browsers require SameSite=None and Secure, and
 * Partitioned if they refuse third-party cookies.
 */
function cookieHeader(request: BeaconRequest, value: string, maxAgeSeconds: number): string {
  const site = request.headers['sec-fetch-site']
  const isOwnSite = site === 'same-origin' || site === 'same-site' || site === 'none'
  const isSecure = request.protocol === 'https'
  const scope = isOwnSite
    ? `SameSite=Lax${isSecure ? '; Secure' : ''}`
    : 'SameSite=None; Secure; Partitioned'
  return `${visitorCookie}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; ${scope}`
}

export interface DailySalt {
  /** Returns today's salt, UTC. */
  current(): string
  close(): void
}

const saltCheckMs = 10_000

/** Returns the day, UTC, counted from 1970. */
const today = (): number => Math.floor(Date.now() / dayMs)

interface SaltCopy {
  day: number
  value: string
}

/**
 * Opens today's salt. PostgreSQL gives all processes the same one, and deletes yesterday's. A process that
 * starts without PostgreSQL uses the copy in `dataDir`. After midnight it uses a salt of this machine, so
 * that an id never exists for longer than a day.
 */
export async function openDailySalt(postgres: Postgres, dataDir: string): Promise<DailySalt> {
  const copy = openDiskCache<SaltCopy>(dataDir, 'daily_salt')
  let salt = { day: -1, value: '', isShared: false }

  const useLocalSalt = (day: number) => {
    const stored = copy.read()
    const value = stored?.day === day ? stored.value : randomBytes(32).toString('hex')
    salt = { day, value, isShared: false }
    if (stored?.day !== day) copy.write({ day, value })
  }
  const renew = async () => {
    const day = today()
    if (salt.day === day && salt.isShared) return
    const date = new Date(day * dayMs).toISOString().slice(0, 10)
    try {
      await postgres.query(
        'INSERT INTO daily_salts (day, salt) VALUES ($1, $2) ON CONFLICT DO NOTHING',
        [date, randomBytes(32).toString('hex')],
      )
      await postgres.query('DELETE FROM daily_salts WHERE day < $1', [date])
      const { rows } = await postgres.query<{ salt: string }>(
        'SELECT salt FROM daily_salts WHERE day = $1',
        [date],
      )
      salt = { day, value: rows[0]!.salt, isShared: true }
      copy.write({ day, value: salt.value })
    } catch {
      if (salt.day !== day) useLocalSalt(day)
    }
  }

  await renew()
  const timer = setInterval(() => void renew(), saltCheckMs)
  timer.unref()
  return {
    current: () => {
      if (salt.day !== today()) useLocalSalt(today())
      return salt.value
    },
    close: () => clearInterval(timer),
  }
}
