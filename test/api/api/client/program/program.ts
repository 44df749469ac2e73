/** A program of somebody else's, in a package of its own: compiled and run by outside.test.ts. */
import {
  type Answer,
  ApiError,
  createClient,
  type Event,
  type Params,
  type SelectedEvent,
} from 'footfall-client'

declare const process: { env: Record<string, string> }

const { BASE_URL: baseUrl = '', KEY: key = '', SECRET: secret = '' } = process.env
const footfall = createClient({ baseUrl, key, secret })

const query: Params<'listEvents'> = {
  filter: 'event_type:eq:custom',
  select: 'event_id,timestamp',
  limit: 2,
}
const first: Answer<'listEvents'> = await footfall.listEvents(query)
const more: boolean = first.meta.has_more
const newest: Event | SelectedEvent | undefined = first.rows[0]

const pages: number[] = []
for await (const { rows } of footfall.listEvents.pages(query)) pages.push(rows.length)

const ids: (string | undefined)[] = []
for await (const event of footfall.listEvents.all(query, { signal: AbortSignal.timeout(60_000) })) {
  ids.push(event.event_id)
}

const csv: string = await (
  await footfall.listEvents.raw(query, { headers: { accept: 'text/csv' } })
).text()
const projects: string[] = []
for await (const { name } of footfall.listProjects.all()) projects.push(name)

async function codeOf(call: () => Promise<unknown>): Promise<[number, string]> {
  try {
    await call()
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.code]
    throw error
  }
  return [200, '']
}
const errors = [
  await codeOf(() => footfall.getPixel({ pixel_id: '00000000-0000-4000-8000-000000000000' })),
  await codeOf(() => footfall.listEvents({ limit: -1 })),
  await codeOf(() => createClient({ baseUrl, key, secret: 'ff' }).whoAmI()),
]

console.log(
  JSON.stringify({
    more,
    first: first.rows.length,
    hasNewest: newest !== undefined,
    pages,
    ids,
    csv,
    projects,
    errors,
  }),
)

/** What must not compile. */
export const wrong = () => [
  // @ts-expect-error: a parameter that the route has not
  footfall.listEvents({ limits: 1 }),
  // @ts-expect-error: one that it needs
  footfall.getProject(),
  // @ts-expect-error: of another type
  footfall.updatePixel({ pixel_id: 'x', active: 'yes' }),
  // @ts-expect-error: a call that has no pages
  footfall.getProject.all({ project_id: 'x' }),
  // @ts-expect-error: an operation that there is not
  footfall.listUnicorns(),
  // @ts-expect-error: a member that the answer has not
  footfall.getProject({ project_id: 'x' }).then(({ project }) => project.colour),
]
