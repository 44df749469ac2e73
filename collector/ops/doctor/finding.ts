import { StartError } from '../../platform/startError.ts'

/** A finding about one subject. If it is not in order, `text` says what to do. */
export interface Finding {
  ok: boolean
  text: string
}

/** Returns a finding with `text`, or with `trouble` if that is not null. */
export const finding = (text: string, trouble: string | null = null): Finding =>
  trouble === null ? { ok: true, text } : { ok: false, text: `${text}: ${trouble}` }

/** A server that has not answered all questions within this time does not work. */
const checkMsMax = 15_000

/** The findings about a server that may not respond; `setting` has its address. */
export async function askAll(
  name: string,
  setting: string,
  ask: () => Promise<Finding[]>,
  msMax = checkMsMax,
): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new NoAnswerError(`no answer within ${duration(msMax)}`)),
      msMax,
    )
  })
  try {
    return await Promise.race([ask(), late])
  } catch (error) {
    return [finding(`${name} cannot be queried`, troubleOf(error, setting))]
  } finally {
    clearTimeout(timer)
  }
}

class NoAnswerError extends Error {}

/** Returns the first line of an error of a server, and what an operator does about it. */
function troubleOf(error: unknown, setting: string): string {
  if (error instanceof StartError) return error.message
  const { message, code } = error as Error & { code?: string }
  const isPage = /^\s*<(!doctype )?html/i.test(message)
  const [first = ''] = isPage ? ['the answer is a web page'] : (message || String(code)).split('\n')
  const remedy = remedies.find(({ signs }) => signs.test(`${code} ${message}`))?.remedy
  const advice =
    error instanceof NoAnswerError
      ? noAnswerRemedy
      : (remedy ?? 'check the server, its log and SETTING')
  return `${first.slice(0, messageCharsMax).replace(/[.\s]+$/, '')}. To fix it, ${advice.replace('SETTING', setting)}`
}

const messageCharsMax = 200
const noAnswerRemedy =
  'check that the server runs, that a firewall lets the connection through, and that SETTING has its address'

/** By the codes of the system, of PostgreSQL and of ClickHouse. The first match counts. */
const remedies: readonly { signs: RegExp; remedy: string }[] = [
  {
    signs: /<html|<!doctype|Parse Error|HPE_/i,
    remedy: 'correct the port in SETTING: another program answers there',
  },
  {
    signs: /ECONNREFUSED/,
    remedy: 'start the server, or correct the host and port in SETTING',
  },
  {
    signs: /ENOTFOUND|EAI_AGAIN/,
    remedy: 'correct the host in SETTING, or the name service of this machine',
  },
  {
    signs: /28P01|28000|EAUTH|password|Authentication failed/i,
    remedy: 'correct the user and the password in SETTING',
  },
  { signs: /3D000/, remedy: 'create the database, or correct its name in SETTING' },
  {
    signs: /EPROTO|certificate|SSL|TLS|CERT_/,
    remedy: 'make SETTING and the server agree on TLS: the protocol, the port and the certificate',
  },
  {
    signs: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout/i,
    remedy: noAnswerRemedy,
  },
]

/** A larger difference between clocks corrupts the order of events and the windows of reads. */
const clockMsMax = 1_000

/** Compares a store's clock with ours, by the times of the request and its response. */
export function clockFinding(
  name: string,
  theirs: number,
  sentAt: number,
  receivedAt: number,
): Finding {
  const apart = Math.round(theirs - (sentAt + receivedAt) / 2)
  // The measurement can be wrong by half of the round trip.
  const isOff = Math.abs(apart) > clockMsMax + (receivedAt - sentAt) / 2
  const text = `${name}'s clock is ${Math.abs(apart)} ms ${apart < 0 ? 'behind' : 'ahead of'} this machine's`
  return finding(text, isOff ? 'set both by NTP' : null)
}

/** Compares a store's schema with this version. */
export function schemaFinding(
  name: string,
  applied: readonly string[],
  ours: readonly string[],
): Finding {
  const newest = ours.at(-1) ?? ''
  const newer = applied.filter((migration) => migration > newest)
  const waiting = ours.filter((migration) => !applied.includes(migration))
  if (newer.length > 0)
    return finding(
      `${name} was migrated by a newer version`,
      `run that version (${newer.join(', ')})`,
    )
  if (waiting.length > 0)
    return finding(
      `${name} lacks ${waiting.join(', ')}`,
      'start the service, or run npx footfall-server migrate',
    )
  return finding(`${name} has this version's schema`)
}

export const gigabytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

/** Formats a duration in its largest suitable unit. */
export function duration(ms: number): string {
  const [size, unit] = (
    [
      [86_400_000, 'days'],
      [3_600_000, 'hours'],
      [60_000, 'minutes'],
      [1_000, 'seconds'],
    ] as const
  ).find(([size]) => ms >= 2 * size) ?? [1, 'ms']
  return `${Math.round(ms / size)} ${unit}`
}
