import { companyFields } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { companyDomains, peopleWhere } from '../../identity/store/profileSql.ts'
import { audienceMatchesQueries, listMatchesQueries } from './membershipMatchesQuery.ts'
import { bitOf, type MembersPlan, profileBits } from './membersPlan.ts'
import { eventSums } from './peopleMatchesQuery.ts'

/**
 * Returns the companies of each source except intent: SELECTs of `member`, the domain, and `bits`, the matched leaves.
 * Events are those of all employees. A field of the company is read from the companies, or from its people's
 * profiles if companies do not contain it. A field of a person matches if it matches any employee.
 */
export function companyMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const events = eventSums(plan, bind)
  return [
    ...(events
      ? [
          `SELECT company AS member, ${events.bits((sum) => `sum(${sum})`)} AS bits
FROM (SELECT _hem_number, assumeNotNull(company_domain) AS company FROM (${companyDomains})) AS work
INNER JOIN (
${events.select}
) AS seen ON work._hem_number = seen.hem_number
GROUP BY member
HAVING bits != 0`,
        ]
      : []),
    ...profileMatchesQueries(plan, bind),
    ...audienceMatchesQueries(plan, 'company_domain', bind),
    ...listMatchesQueries(plan, bind),
  ]
}

const namesOfCompany = new Set(companyFields.map(({ name }) => name))

function profileMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const leaves = profileBits(plan, bind).map((leaf) => ({
    ...leaf,
    isOfCompany: namesOfCompany.has(leaf.field),
  }))
  if (leaves.length === 0) return []
  const ofCompany = leaves.filter(({ isOfCompany }) => isOfCompany)
  const isKnown = 'company_domain IN (SELECT company_domain FROM companies)'
  const bits = (some: typeof leaves) =>
    some.map(({ index, condition }) => bitOf(index, condition)).join(' + ')
  const ofPeople = leaves.map((leaf) =>
    leaf.isOfCompany ? { ...leaf, condition: `(NOT ${isKnown} AND ${leaf.condition})` } : leaf,
  )
  return [
    ...(ofCompany.length > 0
      ? [
          `SELECT company_domain AS member, ${bits(ofCompany)} AS bits
FROM companies FINAL
WHERE ${ofCompany.map(({ condition }) => condition).join(' OR ')}`,
        ]
      : []),
    peopleWhere(
      ['assumeNotNull(company_domain) AS member', `${bits(ofPeople)} AS bits`],
      ["company_domain != ''", `(${ofPeople.map(({ condition }) => condition).join(' OR ')})`],
      bind('UUID', plan.organizationId),
    ),
  ]
}
