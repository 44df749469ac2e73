/** Interest, said once more and as plainly as can be: everything in arrays. The routes are checked against it. */
import { hemOf } from '../../../../collector/platform/hem.ts'

export interface Person {
  /** Addresses; each has a profile with the same pte_person_id. The first stands for the person. */
  emails: string[]
  company_domain: string | null
  job_seniority: string | null
}

export interface Signal {
  topic: string
  /** One of the two. */
  email?: string
  company_domain?: string
  daysAgo: number
  score: number
  source: string
}

export interface Interest {
  topic: string
  score: number
  signals: number
  /** Of the last one. */
  daysAgo: number
}

/** Signals of the same topic, day, subject and source are one: that which was loaded last. */
const distinct = (signals: readonly Signal[]): Signal[] => [
  ...new Map(
    signals.map((one) => [
      JSON.stringify([one.topic, one.email, one.company_domain, one.daysAgo, one.source]),
      one,
    ]),
  ).values(),
]

/** What some signals say, by topic, of a window of so many days. */
export function interestOf(
  signals: readonly Signal[],
  days: number,
  topics: readonly string[] | null,
): Interest[] {
  const all = distinct(signals).filter(({ topic }) => topics === null || topics.includes(topic))
  return [...new Set(all.map(({ topic }) => topic))].flatMap((topic) => {
    const own = all.filter((one) => one.topic === topic)
    const within = own.filter(({ daysAgo }) => daysAgo < days)
    const before = own.filter(({ daysAgo }) => daysAgo >= days && daysAgo < days + 84)
    if (within.length === 0) return []
    const sum = (some: readonly Signal[]) => some.reduce((total, { score }) => total + score, 0)
    const [w, e] = [sum(within) / 100, (sum(before) / 100) * (days / 84)]
    const score = Math.floor((100 * w) / (w + e + 1) + 0.5 + 1e-9)
    return [
      {
        topic,
        score,
        signals: within.length,
        daysAgo: Math.min(...within.map((one) => one.daysAgo)),
      },
    ]
  })
}

export interface Question {
  topics: string[]
  match: 'any' | 'all'
  min_score: number
  days: number
  /** Of people: their seniority. */
  seniority?: string
}

/** Who is interested, the strongest first; those of one score in no order. */
export function interested(
  subjects: readonly { key: string; signals: readonly Signal[]; person?: Person }[],
  { topics, match, min_score, days, seniority }: Question,
): { key: string; score: number; topics: Interest[] }[] {
  return subjects
    .filter(({ person }) => seniority === undefined || person?.job_seniority === seniority)
    .flatMap(({ key, signals }) => {
      const found = interestOf(signals, days, topics)
      if (found.length === 0 || (match === 'all' && found.length < topics.length)) return []
      const scores = found.map(({ score }) => score)
      const score = match === 'all' ? Math.min(...scores) : Math.max(...scores)
      return score < min_score ? [] : [{ key, score, topics: found }]
    })
    .toSorted((one, other) => other.score - one.score)
}

/** People by their hem, with all signals of their addresses. */
export const peopleWith = (people: readonly Person[], signals: readonly Signal[]) =>
  people.map((person) => ({
    person,
    key: hemOf(person.emails[0]!),
    signals: signals.filter(({ email }) => email !== undefined && person.emails.includes(email)),
  }))

/** Companies by their domain, with the signals that name them and those of who works there. */
export function companiesWith(people: readonly Person[], signals: readonly Signal[]) {
  const employerOf = new Map(
    people.flatMap(({ emails, company_domain }) => emails.map((email) => [email, company_domain])),
  )
  const domainOf = ({ email, company_domain }: Signal) => company_domain ?? employerOf.get(email!)
  const domains = new Set(
    signals.map(domainOf).filter((domain) => domain !== null && domain !== undefined),
  )
  return [...domains].map((key) => ({
    key: key!,
    signals: signals.filter((one) => domainOf(one) === key),
  }))
}
