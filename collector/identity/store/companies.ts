import { companyFields, type Field } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { readNames } from '../../api/http/nameList.ts'
import { companiesQuery } from './companySql.ts'

type Row = Record<string, unknown>

/** The fields of a `select` in its order; all without one. Throws 400 for an unknown field. */
export function readCompanyFields(select: string | undefined): readonly Field[] {
  if (select === undefined) return companyFields
  return readNames('select', select).map((name) => {
    const field = companyFields.find((candidate) => candidate.name === name)
    if (!field) throw invalidParameter('select', `a company has no field "${name}"`)
    return field
  })
}

/** Reads companies by their domains, in this order; for an unknown domain all other fields are null. */
export async function readCompanies(
  queryExecutor: QueryExecutor,
  domains: readonly string[],
  fields: readonly Field[] = companyFields,
): Promise<Row[]> {
  if (domains.length === 0) return []
  const rows = await queryExecutor.rows<Row>(companiesQuery(domains))
  const known = new Map(rows.map((row) => [row.company_domain, row]))
  return domains.map((company_domain) => {
    const row: Row = known.get(company_domain) ?? { company_domain }
    return Object.fromEntries(fields.map(({ name }) => [name, row[name] ?? null]))
  })
}
