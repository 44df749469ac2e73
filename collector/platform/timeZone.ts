import { dayMs } from './days.ts'

/** Local times of a zone of the IANA database. Local milliseconds count from 1 January 1970, 00:00 local time. */
export interface TimeZone {
  readonly name: string
  /** Milliseconds by which local time is ahead of UTC at a time (epoch milliseconds). */
  offsetAt(ms: number): number
  /** The first time (epoch milliseconds) at which clocks show these local milliseconds, or later ones if they skip it. */
  instantOf(localMs: number): number
}

/** The message of errors about names that are no zones. */
export const timeZoneFault = 'must be a time zone of the IANA database, such as Europe/Berlin'

const nameLengthMax = 64

const zones = new Map<string, TimeZone>()
/** The IANA database has about 600 names. Requests may spell each in many cases, so the cache has a limit. */
const zonesMax = 1_000

/** Returns the zone of a name; undefined if the IANA database has none. */
export function timeZone(name: string): TimeZone | undefined {
  const known = name === utc.name ? utc : zones.get(name)
  if (known) return known
  const format = formatOf(name)
  if (!format) return undefined
  const offsetAt = offsetsOf(format)
  const zone = { name, offsetAt, instantOf: instantsOf(offsetAt) }
  if (zones.size >= zonesMax) zones.clear()
  zones.set(name, zone)
  return zone
}

/** Returns the zone of a stored name, which was checked before; otherwise UTC. */
export const timeZoneOrUtc = (name: string): TimeZone => timeZone(name) ?? utc

export const utc: TimeZone = { name: 'UTC', offsetAt: () => 0, instantOf: (localMs) => localMs }
/** Node also accepts offsets such as +05:45, which are not zones, and names in any case. */
function formatOf(name: string): Intl.DateTimeFormat | undefined {
  if (name.length > nameLengthMax || !/^[A-Z][A-Za-z0-9_+/-]*$/.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

/** Offsets are reliable between these years, and assumed constant before and after. */
const [knownFromMs, knownUntilMs] = [Date.UTC(1900, 0), Date.UTC(2200, 0)]

/** Caches the offset of each quarter hour, because clocks change only at quarter hours. */
function offsetsOf(format: Intl.DateTimeFormat): TimeZone['offsetAt'] {
  const known = new Map<number, number>()
  const quarterMs = dayMs / 96
  const rememberedMax = 1_000
  return (ms) => {
    const quarter = Math.floor(Math.min(Math.max(ms, knownFromMs), knownUntilMs) / quarterMs)
    const offset = known.get(quarter) ?? offsetOf(format, quarter * quarterMs)
    if (known.size >= rememberedMax) known.clear()
    known.set(quarter, offset)
    return offset
  }
}

function offsetOf(format: Intl.DateTimeFormat, ms: number): number {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type)!
  return (
    Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) - ms
  )
}

function instantsOf(offsetAt: TimeZone['offsetAt']): TimeZone['instantOf'] {
  return (localMs) => {
    const [before, after] = [offsetAt(localMs - dayMs), offsetAt(localMs + dayMs)]
    const [first, second] = [localMs - before, localMs - after]
    if (before === after || offsetAt(first) === before) return first
    // Clocks skip this time unless the offset after the change shows it.
    return offsetAt(second) === after ? second : first
  }
}
