import { expect, test } from 'vitest'
import { migrationNames as inClickHouse } from '../../../collector/platform/clickhouse/migrate.ts'
import { migrationNames as inPostgres } from '../../../collector/platform/postgres/migrate.ts'

/**
 * The migrations of all releases, with digests of their statements. Installations have run them, so they never change:
 * a version with other statements would refuse their stores. A release appends its new files.
 */
const released = {
  clickhouse: [
    '001_collection.sql@165b5c4a0970',
    '002_people.sql@d9333e34e3b6',
    '003_audiences.sql@f1fa5767f176',
    '004_analytics.sql@d23def36b4f5',
  ],
  postgres: [
    '001_organizations.sql@7e606bc05527',
    '002_access.sql@a7e5435aced2',
    '003_collection.sql@be00b35d44c6',
    '004_privacy.sql@93c8ff17a779',
    '005_charges.sql@d485828fc7f9',
    '006_audiences.sql@372177415356',
    '007_activation.sql@decfb2cea7df',
    '008_analytics.sql@32db667da934',
  ],
}

test.each([
  ['ClickHouse', inClickHouse(), released.clickhouse],
  ['PostgreSQL', inPostgres(), released.postgres],
])(
  'the released migrations of %s are unchanged, and new ones have later numbers',
  (_, names, expected) => {
    expect(names.slice(0, expected.length)).toEqual(expected)
  },
)
