import { companyAt, type Graph, profileAt } from '../../identity/generate/index.ts'
import { dayMs } from '../../platform/days.ts'
import { seededRandom } from '../../platform/seededRandom.ts'
import { sampleVisitors } from './sampleVisitors.ts'

/** How many days before today have signals: a window of 30 days and the twelve weeks before it. */
export const signalDays = 30 + 84

const ofPeople = [
  'ceramics_and_pottery',
  'tableware',
  'home_decoration',
  'handmade_gifts',
  'wedding_gifts',
  'coffee_and_tea_equipment',
  'kitchen_renovation',
  'pottery_classes',
]
const ofCompanies = [
  'corporate_gifts',
  'online_shop_platforms',
  'payment_gateways',
  'email_marketing',
  'cloud_computing',
  'payroll_software',
  'commercial_kitchen_equipment',
]

/** The period, in days, in which interest rises and falls. */
const period = 90

/** Whether a person shows interest on a day: rarely, but often while interest rises. */
const shows = (chance: number, day: number, phase: number): boolean =>
  chance < 0.03 + 0.4 * Math.max(0, Math.sin((2 * Math.PI * (day + phase)) / period)) ** 4

/**
 * Returns the signals of one day, counted from 1 January 1970, as rows of intent_signals; each call returns
 * the same rows.
 */
export function sampleSignals(dayNumber: number, graph: Graph): string[] {
  const random = seededRandom(dayNumber)
  const date = new Date(dayNumber * dayMs).toISOString().slice(0, 10)
  const rowsOf = (index: number, topics: readonly string[], subject: Record<string, string>) =>
    [0, 1].flatMap((n) => {
      const isShown = shows(random.next(), dayNumber, 37 * index + 11 * n)
      const score = random.integer(40, 100)
      const topic = topics[(index + 3 * n) % topics.length]
      return isShown ? JSON.stringify({ topic, date, ...subject, source: 'sample', score }) : []
    })
  const people = sampleVisitors.flatMap(({ person }) =>
    person === null
      ? []
      : rowsOf(person, ofPeople, { hem_number: numberOf(profileAt(graph, person).hem) }),
  )
  const companies = Array.from({ length: graph.companies }, (_, index) =>
    rowsOf(index, ofCompanies, {
      company_domain: companyAt(graph, index).company_domain as string,
    }),
  )
  return [...people, ...companies.flat()]
}

/** Returns a hem as its 256 bits, lowest byte first, in decimal digits. */
const numberOf = (hem: string): string =>
  BigInt(`0x${Buffer.from(hem, 'hex').reverse().toString('hex')}`).toString()

export const sampleRules = [
  { topic: 'tableware', path: '/product%' },
  { topic: 'ceramics_and_pottery', path: '/catalogue' },
  { topic: 'pottery_classes', path: '/about' },
  { topic: 'handmade_gifts', search: '%gift%' },
]
