/** Stores organizations, projects and pixels, as the routes of accounts do. */
import type { Postgres } from '../../collector/platform/postgres/pool.ts'

type Store = Pick<Postgres, 'query'>

export const storeOrganization = (postgres: Store, organizationId: string, name = 'Acme') =>
  postgres.query('INSERT INTO organizations (organization_id, name) VALUES ($1, $2)', [
    organizationId,
    name,
  ])

export const storeProject = (
  postgres: Store,
  projectId: string,
  organizationId: string,
  name = 'Shop',
) =>
  postgres.query('INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, $3)', [
    projectId,
    organizationId,
    name,
  ])

export const storePixel = (postgres: Store, pixelId: string, projectId: string, name = 'Shop') =>
  postgres.query('INSERT INTO pixels (pixel_id, project_id, name) VALUES ($1, $2, $3)', [
    pixelId,
    projectId,
    name,
  ])
