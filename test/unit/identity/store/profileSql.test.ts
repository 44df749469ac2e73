import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../../../collector/platform/paths.ts'

/** Who may name the tables of people: their SQL, the schema that makes them, and the load that fills them. */
const owners = [/^identity\/store\//, /^identity\/load\//, /^platform\/clickhouse\//]

test('the SQL of profiles stands in one place: no other file reads their tables', () => {
  const collector = join(packageRoot, 'collector')
  const files = readdirSync(collector, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !owners.some((owner) => owner.test(file)))
  expect(files.length).toBeGreaterThan(100)
  const reads =
    /\b(FROM|JOIN|INTO|UPDATE|TABLE) (profiles|profile_rows)\b|\bprofile_by_hem\b|reinterpretAsUInt256/
  expect(files.filter((file) => reads.test(readFileSync(join(collector, file), 'utf8')))).toEqual(
    [],
  )
})
