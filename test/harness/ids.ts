import { randomUUID } from 'node:crypto'

/** Ids of the test file that runs. Files that share databases see only their own rows. */
export let organizationId: string
export let projectId: string
export let pixelId: string

/** Gives the file that runs next ids of its own. */
export function renewIds(): void {
  organizationId = randomUUID()
  projectId = randomUUID()
  pixelId = randomUUID()
}

renewIds()
