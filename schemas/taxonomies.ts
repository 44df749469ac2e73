/** The shared vocabulary: every fixed list that fields choose from, each value with a label for people. */

import { eventTypeValues, sourceValues } from './fields/event.ts'
import * as lists from './fields/vocabulary.ts'
import { fields } from './fields.ts'

/** A value as fields hold it. */
export interface Term {
  readonly value: string
  readonly label: string
  /** The value of the coarser list that it is a part of. */
  readonly parent?: string
}

export interface Taxonomy {
  readonly name: string
  readonly description: string
  /** The fields that hold these values. */
  readonly fields: readonly string[]
  /** In their natural order, where they have one. */
  readonly terms: readonly Term[]
}

const { industries, naicsSectors } = lists

/** Labels that differ from the words of the value. */
const labels: Readonly<Record<string, string>> = { c_suite: 'C-suite', catch_all: 'Catch-all' }

const labelOf = (value: string): string =>
  labels[value] ?? (value.charAt(0).toUpperCase() + value.slice(1)).replaceAll('_', ' ')

const term = (value: string): Term => ({ value, label: labelOf(value) })

const fieldsWith = (values: readonly string[]): string[] =>
  fields.filter((field) => field.values?.join() === values.join()).map(({ name }) => name)

const ofList = (name: string, description: string, values: readonly string[]): Taxonomy => ({
  name,
  description,
  fields: fieldsWith(values),
  terms: values.map(term),
})

export const taxonomies: readonly Taxonomy[] = [
  ofList(
    'event_types',
    'Types of events: actions of visitors, and impressions of campaigns.',
    eventTypeValues,
  ),
  ofList('event_sources', 'Sources of events.', sourceValues),
  ofList('industries', 'Industries of companies.', Object.keys(industries)),
  {
    name: 'sub_industries',
    description: 'Subdivisions of industries. `parent` is the industry.',
    fields: fieldsWith(Object.values(industries).flat()),
    terms: Object.entries(industries).flatMap(([parent, parts]) =>
      parts.map((part) => ({ ...term(part), parent })),
    ),
  },
  {
    name: 'naics_sectors',
    description: 'Sectors of NAICS 2022: the first digits of company_naics_code.',
    fields: ['company_naics_code'],
    terms: Object.entries(naicsSectors).map(([value, label]) => ({ value, label })),
  },
  ofList('company_types', 'Types of ownership.', lists.companyTypes),
  ofList(
    'employee_ranges',
    'Ranges of the number of employees of companies.',
    lists.employeeRanges,
  ),
  ofList(
    'revenue_ranges',
    'Ranges of the yearly revenue of companies, in US dollars.',
    lists.revenueRanges,
  ),
  ofList('funding_stages', 'Rounds of venture capital.', lists.fundingStages),
  ofList('seniorities', 'Seniorities of positions, highest first.', lists.seniorities),
  ofList('departments', 'Departments of companies.', lists.departments),
  ofList('email_statuses', 'Results of e-mail delivery.', lists.emailStatuses),
  ofList('genders', 'Genders.', lists.genders),
  ofList('age_ranges', 'Ranges of age, in years.', lists.ageRanges),
  ofList('generations', 'Generations, youngest first.', lists.generations),
  ofList('marital_statuses', 'Marital statuses.', lists.maritalStatuses),
  ofList('income_ranges', 'Ranges of yearly income, in US dollars.', lists.incomeRanges),
  ofList('net_worth_ranges', 'Ranges of household net worth, in US dollars.', lists.netWorthRanges),
  ofList('credit_ratings', 'Modelled credit ratings, best first.', lists.creditRatings),
  ofList('education_levels', 'Education levels, highest last.', lists.educationLevels),
  ofList('dwelling_types', 'Types of homes.', lists.dwellingTypes),
]
