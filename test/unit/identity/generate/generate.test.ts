import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  companyAt,
  cookieAt,
  type Graph,
  profileAt,
} from '../../../../collector/identity/generate/index.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { companyFields, type Field, fields, profileFields } from '../../../../schemas/fields.ts'
import { isUuid } from '../../../../schemas/uuid.ts'

const graph: Graph = { seed: 7, companies: 200 }
const indexes = Array.from({ length: 2_000 }, (_, index) => index)
const profiles = indexes.map((index) => profileAt(graph, index))
const companies = Array.from({ length: graph.companies }, (_, index) => companyAt(graph, index))

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const typeOf: Record<Field['dataType'], string> = {
  Utf8: 'string',
  Int64: 'number',
  Float64: 'number',
  Boolean: 'boolean',
  Timestamp: 'string',
}

test('an entry is the same whenever it is asked for, and another one for another seed', () => {
  expect(profileAt(graph, 1_234)).toEqual(profiles[1_234])
  expect(companyAt(graph, 12)).toEqual(companies[12])
  expect(profileAt({ ...graph, seed: 8 }, 1_234).hem).not.toBe(profiles[1_234]!.hem)
  expect(cookieAt(graph, 5)).toBe(cookieAt(graph, 5))
  expect(cookieAt({ ...graph, seed: 8 }, 5)).not.toBe(cookieAt(graph, 5))
})

test('a hem is the SHA-256 of one of the person’s addresses', () => {
  expect(hemOf('  Ann.Example@Mail.EXAMPLE ')).toBe(sha256('ann.example@mail.example'))
  for (const { hem, email, personal_email } of profiles) {
    expect(
      [email, personal_email].map((address) => address && sha256(address as string)),
    ).toContain(hem)
  }
})

test('hems and cookies are unique; some people are there twice, by each of their addresses', () => {
  expect(new Set(profiles.map(({ hem }) => hem)).size).toBe(profiles.length)
  const cookies = indexes.map((index) => cookieAt(graph, index))
  expect(new Set(cookies).size).toBe(cookies.length)
  expect(cookies.every(isUuid)).toBe(true)
  const people = new Set(profiles.map(({ pte_person_id }) => pte_person_id)).size
  expect(people).toBeLessThan(profiles.length)
  expect(people).toBeGreaterThan(profiles.length * 0.8)
})

test('every profile field is filled for somebody, with values of its type and from its list; no other is', () => {
  const names = new Set(['hem', ...profileFields.map(({ name }) => name)])
  expect(profiles.flatMap(Object.keys).filter((name) => !names.has(name))).toEqual([])
  for (const { name, dataType, values } of profileFields) {
    const filled = profiles
      .map((profile) => profile[name] ?? null)
      .filter((value) => value !== null)
    expect(filled.length, name).toBeGreaterThan(20)
    const isRight = (value: unknown) =>
      typeof value === typeOf[dataType] &&
      value !== '' &&
      (dataType !== 'Int64' || Number.isInteger(value)) &&
      (!values || values.includes(value as string))
    expect(
      filled.filter((value) => !isRight(value)),
      name,
    ).toEqual([])
  }
})

test('nobody and no company can be taken for a real one by its address or number', () => {
  for (const { email, personal_email, company_domain, phone } of profiles) {
    for (const host of [email, personal_email, company_domain]) {
      if (host) expect(host).toMatch(/\.example$/)
    }
    if (phone) expect(phone).toMatch(/^\+\d+55501\d\d$/)
  }
})

test('a company has a value or null for every company field, and a domain of its own', () => {
  for (const company of companies) {
    expect(Object.keys(company).toSorted()).toEqual(
      companyFields.map(({ name }) => name).toSorted(),
    )
  }
  expect(new Set(companies.map(({ company_domain }) => company_domain)).size).toBe(companies.length)
})

test('employees of one company agree on what it is', () => {
  const byDomain = new Map(companies.map((company) => [company.company_domain, company]))
  const employed = profiles.filter(({ company_domain }) => company_domain)
  expect(employed.length).toBeGreaterThan(profiles.length / 2)
  for (const profile of employed)
    expect(profile).toMatchObject(byDomain.get(profile.company_domain!)!)
})

test('fields that say the same twice agree', () => {
  expect(fields.length).toBeGreaterThan(130)
  for (const {
    age,
    birth_year,
    email,
    business_email,
    personal_email,
    is_home_owner,
    home_value_usd,
  } of profiles) {
    if (age !== null && birth_year !== null)
      expect((birth_year as number) + (age as number)).toBe(2026)
    expect(email).toBe(business_email ?? personal_email)
    if (home_value_usd !== null) expect(is_home_owner).toBe(true)
  }
})
