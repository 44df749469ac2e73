import { type Static, Type } from 'typebox'
import { ignoredTrafficSchema } from '../../../schemas/ignored.ts'
import { Id, Timestamp, Version } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { TransitHosts } from './transitHosts.ts'

export const Project = Type.Object(
  {
    project_id: Id,
    organization_id: Id,
    name: Type.String(),
    time_zone: Type.String({ description: 'IANA time zone of the days in figures.' }),
    ...ignoredTrafficSchema,
    transit_hosts: TransitHosts,
    uses_activation: Type.Boolean({
      description: 'Whether the project has an audience, a list or an integration.',
    }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Project' },
)
export type Project = Static<typeof Project>

export const selectProjects = `
  SELECT project_id, organization_id, name, time_zone, ignored_networks, ignored_hosts, ignored_paths, transit_hosts, version, created_at, updated_at,
    EXISTS (SELECT FROM audiences WHERE audiences.project_id = projects.project_id)
      OR EXISTS (SELECT FROM lists WHERE lists.project_id = projects.project_id)
      OR EXISTS (SELECT FROM integrations WHERE integrations.project_id = projects.project_id) AS uses_activation
  FROM projects`

export async function readProject(
  client: Queryable,
  projectId: string,
  lock: '' | 'FOR UPDATE' | 'FOR NO KEY UPDATE' = '',
): Promise<Project> {
  const [project] = await readRecords<Project>(
    client,
    `${selectProjects} WHERE project_id = $1 ${lock}`,
    [projectId],
  )
  if (!project) throw notFound.project()
  return project
}
