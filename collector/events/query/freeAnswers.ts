import { sampleIdentity } from '../../api/access/sandboxTenant.ts'

type Entity = 'people' | 'companies'

/**
 * A free row appears only if this many people, including its person, have the same values in all requested
 * fields. A free count appears only if its conditions describe no group of fewer people.
 */
export const alikeMin = 25

/** Leaves by which a caller can choose single people; a named audience may use a list or events. */
const choosing = ['event', 'list', 'audience'] as const

/** Fields that identify single people or companies. Definitions refuse identifying fields entirely. */
const naming: Readonly<Record<Entity, readonly string[]>> = {
  people: ['first_name', 'middle_name', 'last_name', 'linkedin_headline'],
  companies: [
    'company_name',
    'company_legal_name',
    'company_domain',
    'company_website_url',
    'company_description',
    'company_phone',
    'company_street_address',
    'company_stock_symbol',
    'company_linkedin_url',
    'company_twitter_url',
    'company_facebook_url',
  ],
}

/**
 * Returns SQL of whether free answers omit the count of a build, the row `build` of `audience_builds`. They do if it
 * may describe chosen people, or if a condition singles people out. Builds of the sample, which test keys read,
 * contain generated data, so nothing is omitted.
 */
export function hasBilledCountSql(build: string): string {
  const has = (path: string) => `jsonb_path_exists(${build}.definition, '${path}')`
  const names = (entity: Entity) =>
    `${build}.definition ->> 'entity' = '${entity}' AND ${has(
      `$.**.profile.field ? (${naming[entity].map((name) => `@ == "${name}"`).join(' || ')})`,
    )}`
  return `EXISTS (SELECT FROM audiences AS of_build JOIN projects AS of_audience USING (project_id)
    WHERE of_build.audience_id = ${build}.audience_id
      AND of_audience.organization_id <> '${sampleIdentity.organizationId}'
      AND (${choosing.map((kind) => has(`$.**.${kind}`)).join(' OR ')}
        OR ${names('people')} OR ${names('companies')}
        OR ${has('$.**.intent')} AND EXISTS (
          SELECT FROM intent_rules WHERE intent_rules.organization_id = of_audience.organization_id)))`
}
