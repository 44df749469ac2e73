import { dayMs } from '../../platform/days.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import {
  about,
  catalogue,
  entrances,
  home,
  product,
  products,
  type SampleEvent,
  sampleEvent,
  site,
} from '../sandbox/sampleTraffic.ts'
import { makeStranger, type SampleVisitor } from '../sandbox/sampleVisitors.ts'

const minuteMs = 60_000
/** A visit begins in the first minute of each slot, at night, too. */
const slotMs = 5 * minuteMs
const slotsOfDay = dayMs / slotMs
/** The share of slots with a second visit, Sunday first. */
const secondShares = [0.6, 0.5, 0.35, 0.3, 0.35, 0.45, 0.7]
/** The share of visits by people who came on one of these days before. */
const returnShare = 0.4
const returnDaysMax = 28
/** Different random numbers than the other visits of the same day. */
const seedOffset = 2_000_000

/**
 * Returns the page views of people who come for a minute or two, some of them again on a later day. Because of them, the
 * demo has visitors at every hour, and new ones. Its regular visitors are too few: all of them would come every day.
 */
export function planPassersBy(dayNumber: number): SampleEvent[] {
  const random = seededRandom(dayNumber + seedOffset)
  const weekday = new Date(dayNumber * dayMs).getUTCDay()
  const visitIn = (slot: number, which: 0 | 1) => {
    const daysSinceFirst = random.chance(returnShare) ? random.integer(1, returnDaysMax) : 0
    const firstSlot = (dayNumber - daysSinceFirst) * slotsOfDay + slot
    const startMs = dayNumber * dayMs + slot * slotMs
    return visit(random, strangerOf(firstSlot, which), startMs + random.integer(0, minuteMs))
  }
  return Array.from({ length: slotsOfDay }, (_, slot) => [
    ...visitIn(slot, 0),
    ...(random.chance(secondShares[weekday]!) ? visitIn(slot, 1) : []),
  ]).flat()
}

/** Returns the person who comes for the first time in this slot, counted from 1 January 1970; 1: the second one. */
const strangerOf = (slot: number, which: 0 | 1): SampleVisitor =>
  makeStranger(seededRandom(slot * 2 + which))

function visit(random: Random, visitor: SampleVisitor, startMs: number): SampleEvent[] {
  const pages = [home, home, catalogue, about, product(random.pick(products))]
  const length = random.pick([1, 1, 1, 2, 2, 3])
  const { screen, viewport } = visitor
  let referrer = random.pick(entrances)
  let atMs = startMs
  return Array.from({ length }, () => {
    const { path, title } = random.pick(pages)
    const url = site + path
    const own = { title, referrer, screen, viewport }
    const event = sampleEvent(random, atMs, url, 'page_view', own)
    referrer = url
    atMs += random.integer(10_000, 50_000)
    return { visitor, event }
  })
}
