import { randomUUID } from 'node:crypto'
import { snippet } from '../../pixel/stub.mjs'
import { normalizedEmail } from '../platform/normalizedEmail.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { timeZoneOrUtc } from '../platform/timeZone.ts'
import { newApiCredentials, storeApiKey } from './keys/apiKeys.ts'
import { storeMember } from './members/newMember.ts'
import { linkMinutes, newPasswordResetLink } from './sessions/passwordReset.ts'

/** The time zone of the machine, in which its owner probably reads days. */
const machineZone = (): string =>
  timeZoneOrUtc(Intl.DateTimeFormat().resolvedOptions().timeZone).name

/** Request for the first organization of a service. */
export interface SetupRequest {
  organization: string
  /** Of the owner. */
  email: string
  /** Names the project and its pixel. */
  project: string
}

const keyName = 'Setup'
/** No password has it for its hash: the owner chooses one by a link. */
const noPassword = '!'

/** Creates an organization with an owner, a project, a pixel and a key, as far as they are missing. */
export async function setUp(
  client: Queryable,
  { organization, email: rawEmail, project }: SetupRequest,
  { publicUrl, collectorUrl }: Addresses,
): Promise<string[]> {
  const email = normalizedEmail(rawEmail)
  const said: string[] = []
  const ensure = async (
    what: string,
    name: string,
    find: Find,
    make: (id: string) => Promise<unknown>,
  ) => {
    const { rows } = await client.query<{ id: string }>(find.sql, find.values)
    const id = rows[0]?.id ?? randomUUID()
    if (!rows[0]) await make(id)
    said.push(`${what} “${name}” ${rows[0] ? 'already exists' : 'created'}: ${id}`)
    return id
  }

  const organizationId = await ensure(
    'Organization',
    organization,
    {
      sql: `SELECT organization_id AS id FROM organizations JOIN members USING (organization_id)
            WHERE organizations.name = $1 AND email = $2 AND role = 'owner'`,
      values: [organization, email],
    },
    async (id) => {
      await client.query('INSERT INTO organizations (organization_id, name) VALUES ($1, $2)', [
        id,
        organization,
      ])
      await storeMember(client, {
        organizationId: id,
        email,
        role: 'owner',
        passwordHash: noPassword,
      })
    },
  )
  const projectId = await ensure(
    'Project',
    project,
    {
      sql: 'SELECT project_id AS id FROM projects WHERE organization_id = $1 AND name = $2',
      values: [organizationId, project],
    },
    (id) =>
      client.query(
        'INSERT INTO projects (project_id, organization_id, name, time_zone) VALUES ($1, $2, $3, $4)',
        [id, organizationId, project, machineZone()],
      ),
  )
  const pixelId = await ensure(
    'Pixel',
    project,
    {
      sql: 'SELECT pixel_id AS id FROM pixels WHERE project_id = $1 AND name = $2',
      values: [projectId, project],
    },
    (id) =>
      client.query('INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, $3)', [
        id,
        projectId,
        project,
      ]),
  )
  return [
    ...said,
    ...(await ownerLines(client, email, publicUrl)),
    '',
    'Paste this into the head of every page:',
    '',
    snippet(`${collectorUrl}/p/${pixelId}.js`),
    '',
    ...(await keyLines(client, organizationId, publicUrl)),
  ]
}

/** The address of the service in browsers: of the dashboard, the API and the pixel script. */
export interface Addresses {
  publicUrl: string
  collectorUrl: string
}

interface Find {
  sql: string
  values: unknown[]
}

async function ownerLines(client: Queryable, email: string, publicUrl: string): Promise<string[]> {
  const { rows } = await client.query<{ password_hash: string }>(
    'SELECT password_hash FROM users WHERE email = $1',
    [email],
  )
  if (rows[0]!.password_hash !== noPassword) return [`Owner ${email} signs in at ${publicUrl}/`]
  const link = await newPasswordResetLink(client, email, linkMinutes.printed, publicUrl)
  return [`Owner ${email} can choose a password here, within 24 hours:`, `  ${link}`]
}

async function keyLines(
  client: Queryable,
  organizationId: string,
  publicUrl: string,
): Promise<string[]> {
  const { rowCount } = await client.query(
    'SELECT FROM api_keys WHERE organization_id = $1 AND name = $2 AND revoked_at IS NULL',
    [organizationId, keyName],
  )
  if (rowCount !== 0) {
    return [
      `API key “${keyName}” already exists; its secret was shown once. Create another in the dashboard:`,
      `  ${publicUrl}/${organizationId}/settings/api-keys`,
    ]
  }
  const credentials = newApiCredentials('live')
  await storeApiKey(client, { organizationId, projectId: null }, 'live', keyName, credentials)
  return [
    'Read the events. The secret is shown only once:',
    '',
    `curl -H 'X-Api-Key: ${credentials.apiKey}' \\`,
    `     -H 'X-Api-Secret: ${credentials.apiSecret}' \\`,
    `     '${publicUrl}/api/v3/events/web_event?limit=5'`,
  ]
}
