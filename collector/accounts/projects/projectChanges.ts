import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { ignoredTrafficSchema, ignoreSettings } from '../../../schemas/ignored.ts'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { administeredProject } from '../../api/access/policy.ts'
import type { Principal } from '../../api/access/principal.ts'
import { Id, Name, SeenVersion, strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { changesOf, requireVersion } from '../../api/http/optimisticLock.ts'
import { ignoreFaults } from '../../ingest/ignored/ignoreRules.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { timeZone, timeZoneFault, utc } from '../../platform/timeZone.ts'
import { EventsOption } from '../accountSchemas.ts'
import { requestDeletion } from './eventDeletions.ts'
import { type Project, readProject } from './projects.ts'
import { TransitHosts, transitHostsOf } from './transitHosts.ts'

const TimeZoneName = Type.String({
  description: 'IANA time zone of the days, weeks and months in figures. Default: UTC.',
  examples: ['Europe/Berlin'],
})

export const NewProject = strictObject({ name: Name, time_zone: Type.Optional(TimeZoneName) })

/** Throws 400 for a time zone that does not exist, and 403. */
export async function createProject(
  postgres: Postgres,
  principal: Principal,
  { name, time_zone = utc.name }: Static<typeof NewProject>,
): Promise<Project> {
  requireTimeZone(time_zone)
  requireOrganizationAdmin(principal)
  const id = randomUUID()
  return inTransaction(postgres, async (client) => {
    await client.query(
      'INSERT INTO projects (project_id, organization_id, name, time_zone) VALUES ($1, $2, $3, $4)',
      [id, principal.organizationId, name, time_zone],
    )
    await audit(client, principal, 'project.create', { kind: 'project', id }, { name })
    return readProject(client, id)
  })
}

export const ProjectChange = strictObject({
  project_id: Id,
  name: Type.Optional(Name),
  time_zone: Type.Optional(TimeZoneName),
  ignored_networks: Type.Optional(ignoredTrafficSchema.ignored_networks),
  ignored_hosts: Type.Optional(ignoredTrafficSchema.ignored_hosts),
  ignored_paths: Type.Optional(ignoredTrafficSchema.ignored_paths),
  transit_hosts: Type.Optional(TransitHosts),
  version: SeenVersion,
})
type ProjectChange = Static<typeof ProjectChange>

/** Throws 400 for invalid ignored traffic or an unknown time zone, 403 and 404, and 409 if the project changed meanwhile. */
export async function changeProject(
  postgres: Postgres,
  principal: Principal,
  change: ProjectChange,
): Promise<Project> {
  requireIgnoredTraffic(change)
  const transitHosts = transitHostsOf(change.transit_hosts)
  requireTimeZone(change.time_zone)
  const id = await administeredProject(postgres, principal, change.project_id, 'write')
  return inTransaction(postgres, async (client) => {
    const before = await readProject(client, id, 'FOR NO KEY UPDATE')
    requireVersion('project', before, change.version)
    await client.query(
      `UPDATE projects SET name = coalesce($2, name), ignored_networks = coalesce($3, ignored_networks),
         ignored_hosts = coalesce($4, ignored_hosts), ignored_paths = coalesce($5, ignored_paths),
         time_zone = coalesce($6, time_zone), transit_hosts = coalesce($7, transit_hosts), version = version + 1, updated_at = now()
       WHERE project_id = $1`,
      [
        id,
        change.name,
        change.ignored_networks,
        change.ignored_hosts,
        change.ignored_paths,
        change.time_zone,
        transitHosts,
      ],
    )
    const project = await readProject(client, id)
    const object = { kind: 'project', id } as const
    await audit(client, principal, 'project.update', object, changesOf(before, project))
    return project
  })
}

function requireTimeZone(name: string | undefined): void {
  if (name !== undefined && !timeZone(name)) throw invalidParameter('time_zone', timeZoneFault)
}

function requireIgnoredTraffic(change: ProjectChange): void {
  for (const setting of ignoreSettings) {
    for (const [index, entry] of (change[setting] ?? []).entries()) {
      const fault = ignoreFaults[setting](entry)
      if (fault)
        throw invalidParameter(`${setting}[${index}]`, `${fault} (got ${JSON.stringify(entry)})`)
    }
  }
}

export const ProjectDeletion = strictObject({
  project_id: Id,
  events: EventsOption,
})

/** Deletes a project with its pixels, its keys and, with `events: 'delete'`, its events. Throws 403 and 404. */
export async function deleteProject(
  postgres: Postgres,
  principal: Principal,
  { project_id, events = 'keep' }: Static<typeof ProjectDeletion>,
): Promise<'delete' | 'keep'> {
  const id = await administeredProject(postgres, principal, project_id, 'read')
  requireOrganizationAdmin(principal)
  const { organizationId } = principal
  await inTransaction(postgres, async (client) => {
    const { name } = await readProject(client, id, 'FOR UPDATE')
    if (events === 'delete') await requestDeletion(client, { organizationId, projectId: id })
    await audit(client, principal, 'project.delete', { kind: 'project', id }, { name, events })
    await client.query('DELETE FROM projects WHERE project_id = $1', [id])
  })
  return events
}
