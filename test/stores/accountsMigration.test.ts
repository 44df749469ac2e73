import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { newEmptyPostgresDatabase } from '../harness/databases.ts'

const directory = join(packageRoot, 'collector/platform/postgres/migrations')

test('keys, members and sessions of before roles and users are kept', async () => {
  const postgres = openPostgres(await newEmptyPostgresDatabase(), () => {})
  const apply = async (isMeant: (name: string) => boolean) => {
    for (const name of readdirSync(directory).sort().filter(isMeant)) {
      await postgres.query(readFileSync(join(directory, name), 'utf8'))
    }
  }
  await apply((name) => name < '010')
  const [organization, project] = [randomUUID(), randomUUID()]
  await postgres.query(`INSERT INTO organizations VALUES ($1, 'Old')`, [organization])
  await postgres.query(`INSERT INTO projects VALUES ($1, $2, 'P')`, [project, organization])
  const members = { owner: randomUUID(), admin: randomUUID(), member: randomUUID() }
  for (const [role, id] of Object.entries(members)) {
    await postgres.query(
      `INSERT INTO members (member_id, organization_id, email, password_hash, role) VALUES ($1, $2, $3, 'hash', $3)`,
      [id, organization, role],
    )
  }
  await postgres.query(
    `INSERT INTO members (member_id, organization_id, email, role, invitation_sha256, invitation_expires_at)
     VALUES ($1, $2, 'invited', 'member', 'x', now() + interval '1 day')`,
    [randomUUID(), organization],
  )
  await postgres.query(`INSERT INTO sessions VALUES ('s', $1, now(), now() + interval '1 day')`, [
    members.admin,
  ])
  for (const [maker, projectId] of [
    ...[...Object.keys(members), 'left', null].map((each) => [each, null]),
    ['owner', project],
  ]) {
    await postgres.query(
      `INSERT INTO api_keys (key_id, organization_id, project_id, mode, name, key_prefix, key_sha256, created_by)
       VALUES ($1, $2, $3, 'live', $4, 'p', $5, $6)`,
      [
        randomUUID(),
        organization,
        projectId,
        `${maker}${projectId ? ' of project' : ''}`,
        randomUUID(),
        maker,
      ],
    )
  }
  await apply((name) => name >= '010')

  const { rows: keys } = await postgres.query('SELECT name, role FROM api_keys')
  expect(Object.fromEntries(keys.map(({ name, role }) => [name, role]))).toEqual({
    owner: 'owner',
    admin: 'admin',
    member: 'write',
    left: 'admin',
    null: 'owner',
    'owner of project': 'admin',
  })
  const { rows: people } = await postgres.query(
    `SELECT members.email, member_id, user_id, password_hash FROM members LEFT JOIN users USING (user_id)`,
  )
  for (const [role, id] of Object.entries(members)) {
    expect(people).toContainEqual({
      email: role,
      member_id: id,
      user_id: id,
      password_hash: 'hash',
    })
  }
  expect(people).toContainEqual(expect.objectContaining({ email: 'invited', user_id: null }))
  const { rows: sessions } = await postgres.query('SELECT user_id FROM sessions')
  expect(sessions).toEqual([{ user_id: members.admin }])
  await postgres.end()
})
