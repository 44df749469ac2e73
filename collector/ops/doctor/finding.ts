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

/** Returns the findings about a server that may not respond, or that never ends its answer. */
export async function askAll(
  name: string,
  ask: () => Promise<Finding[]>,
  msMax = checkMsMax,
): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${duration(msMax)}`)), msMax)
  })
  try {
    return await Promise.race([ask(), late])
  } catch (error) {
    return [
      finding(
        `${name} cannot be queried`,
        (error as Error).message || String((error as { code?: string }).code),
      ),
    ]
  } finally {
    clearTimeout(timer)
  }
}

/** A larger difference between clocks corrupts the order of events and the windows of reads. */
const clockMsMax = 1_000

/**
 * Compares a store's clock with ours; `sentAt` and `receivedAt` are the times of the request and its
 * response.
 */
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
