/**
 * Generates an identity graph: companies, people and the cookies of their browsers. Entry number i of a graph
 * is always the same, so any slice of a graph of any size can be generated alone.
 */
import { createHash } from 'node:crypto'
import {
  companyTypes,
  employeeRanges,
  fundingStages,
  industries,
  revenueRanges,
} from '../../../schemas/fields/vocabulary.ts'
import { hemOf } from '../../platform/hem.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import { makePerson } from './person.ts'
import { phoneIn, pickSome, postalCodeIn, rangeOf, slug, type Values } from './values.ts'
import {
  classifications,
  companyFirst,
  companyKinds,
  companySecond,
  places,
  streets,
  technologies,
} from './words.ts'

export interface Graph {
  readonly seed: number
  /** How many companies the people work for. */
  readonly companies: number
}

/** A row of `profiles`, as JSON has it. */
export type Profile = Values & { hem: string }

/** Every fifth profile is the previous person's, with their personal address. */
const profilesPerSecondAddress = 5

/** The profile number `index`. */
export function profileAt(graph: Graph, index: number): Profile {
  const isSecond = index % profilesPerSecondAddress === profilesPerSecondAddress - 1
  if (!isSecond) return personAt(graph, index)
  const person = personAt(graph, index - 1)
  const { personal_email } = person
  // A person with only one address is replaced by another person.
  if (personal_email === null || personal_email === person.email) return personAt(graph, index)
  return { ...person, hem: hemOf(personal_email as string) }
}

function personAt(graph: Graph, index: number): Profile {
  const random = seededRandom(numberOf(graph, 'person', index))
  const company = companyAt(graph, random.integer(0, graph.companies - 1))
  const values = makePerson(random, index, company)
  const isReachable = (probability: number) => random.chance(probability)
  const id = (kind: string) => idOf(graph, kind, index)
  return {
    hem: hemOf(values.email as string),
    pte_person_id: id('person'),
    pte_household_id: isReachable(0.8) ? idOf(graph, 'household', index >> 1) : null,
    maid: isReachable(0.5) ? uuidOf(graph, 'maid', index) : null,
    uid2: isReachable(0.6) ? Buffer.from(id('uid2'), 'hex').toString('base64') : null,
    id5_id: isReachable(0.5) ? `ID5*${Buffer.from(id('id5'), 'hex').toString('base64url')}` : null,
    ramp_id: isReachable(0.5) ? `XY${Buffer.from(id('ramp'), 'hex').toString('base64url')}` : null,
    ...values,
  }
}

/** The company number `index`: a row of `companies`, as JSON has it. */
export const companyAt = (graph: Graph, index: number): Values =>
  makeCompany(seededRandom(numberOf(graph, 'company', index)), index)

/** The id of the cookie number `index`: a uuid. */
export const cookieAt = (graph: Graph, index: number): string => uuidOf(graph, 'cookie', index)

const digestOf = ({ seed }: Graph, kind: string, index: number): Buffer =>
  createHash('sha256').update(`${seed} ${kind} ${index}`).digest()

const numberOf = (graph: Graph, kind: string, index: number): number =>
  digestOf(graph, kind, index).readUInt32LE()

const idOf = (graph: Graph, kind: string, index: number): string =>
  digestOf(graph, kind, index).toString('hex', 0, 24)

function uuidOf(graph: Graph, kind: string, index: number): string {
  const bytes = digestOf(graph, kind, index)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const employeeSteps = [10, 50, 200, 500, 1_000, 5_000, 10_000]
const revenueSteps = [1e6, 1e7, 5e7, 1e8, 5e8, 1e9]

/** The company number `index`: a value for each company field, some of them null. */
function makeCompany(random: Random, index: number): Values {
  const known = <T>(probability: number, value: T) => (random.chance(probability) ? value : null)
  const industry = random.pick(Object.keys(industries) as (keyof typeof industries)[])
  const [naics, sic] = classifications[industry]!
  const kind = random.pick(companyKinds[industry]!)
  const stem = `${random.pick(companyFirst)}${random.pick(companySecond)}`
  const name = `${stem} ${kind}`
  const domain = `${slug(name)}-${index.toString(36)}.example`
  const place = random.pick(places)
  // Most companies are small, but people work equally often in each size.
  const employees = Math.round(10 ** (0.5 + random.next() * 4))
  const revenue = Math.round(employees * random.integer(60, 400)) * 1_000
  const isPublic = employees > 1_000 && random.chance(0.5)
  const isFunded = !isPublic && random.chance(0.3)
  const hasParent = random.chance(0.12)
  const parent = `${random.pick(companyFirst)}${random.pick(companySecond)} Group`
  const sellsToBusinesses = random.chance(0.6)
  return {
    company_name: name,
    company_legal_name: known(0.8, `${name}${random.pick([' Inc.', ' LLC', ' Ltd.', ' GmbH'])}`),
    company_domain: domain,
    company_website_url: `https://www.${domain}/`,
    company_description: known(
      0.7,
      `${name} is a ${industry.toLowerCase()} company in ${place.city} that serves customers across ${place.region}.`,
    ),
    company_industry: industry,
    company_sub_industry: known(0.8, random.pick(industries[industry])),
    company_naics_code: naics,
    company_sic_code: sic,
    company_type: isPublic ? 'public' : random.pick(companyTypes),
    company_stock_symbol: isPublic ? stem.slice(0, 4).toUpperCase() : null,
    company_stock_exchange: isPublic ? random.pick(['NASDAQ', 'NYSE', 'LSE']) : null,
    company_founded_year: known(0.85, random.integer(1900, 2022)),
    company_employee_count: employees,
    company_employee_range: rangeOf(employees, employeeSteps, employeeRanges),
    company_employee_growth: known(0.7, Math.round((random.next() - 0.35) * 100) / 100),
    company_revenue_usd: known(0.7, revenue),
    company_revenue_range: rangeOf(revenue, revenueSteps, revenueRanges),
    company_funding_total_usd: isFunded ? random.integer(1, 200) * 500_000 : null,
    company_funding_stage: isFunded ? random.pick(fundingStages.slice(0, 5)) : null,
    company_phone: known(0.8, phoneIn(random, place)),
    company_street_address: known(0.85, `${random.integer(1, 999)} ${random.pick(streets)} Street`),
    company_city: place.city,
    company_region: place.region,
    company_postal_code: known(0.85, postalCodeIn(random, place)),
    company_country: place.country,
    company_linkedin_url: known(
      0.8,
      `https://www.linkedin.com/company/${slug(name)}-${index.toString(36)}`,
    ),
    company_twitter_url: known(0.4, `https://x.com/${slug(stem)}${index.toString(36)}`),
    company_facebook_url: known(0.4, `https://www.facebook.com/${slug(stem)}${index.toString(36)}`),
    company_technologies: known(0.6, pickSome(random, technologies, 2, 6)),
    company_keywords: known(
      0.6,
      pickSome(random, [...industries[industry], place.city, place.region], 2, 4),
    ),
    company_parent_domain: hasParent ? `${slug(parent)}.example` : null,
    company_sells_to_businesses: sellsToBusinesses,
    company_sells_to_consumers: !sellsToBusinesses || random.chance(0.3),
  }
}
