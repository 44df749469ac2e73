/**
 * Generates an identity graph: companies, people and the cookies of their browsers. Entry number i of a graph
 * is always the same, so any slice of a graph of any size can be generated alone.
 */
import { createHash } from 'node:crypto'
import { hemOf } from '../../platform/hem.ts'
import { seededRandom } from '../../platform/seededRandom.ts'
import { makeCompany } from './makeCompany.ts'
import { makePerson } from './person.ts'
import type { Values } from './values.ts'

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
