import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { type TrackingPlan, trackingPlanMembers } from '../../../schemas/trackingPlan.ts'
import { createClient } from '../../api/client/index.ts'
import { findPlanFault } from '../../ingest/plan/planFault.ts'
import { planTypes } from '../../ingest/plan/planTypes.ts'
import { StartError } from '../../platform/startError.ts'

/** The address of the service, and the key of the requests. */
interface Login {
  url: string
  key: string
  secret: string
}

/** The project of a command. Default: the only project that the key can access. */
interface Options {
  project?: string
}

const PlanFile = Type.Object(trackingPlanMembers, { additionalProperties: false })

/** `npx footfall-server plan pull`: writes the service's plan to a file. */
export async function pullPlan(login: Login, file: string, options: Options): Promise<void> {
  const stored = await readStored(login, await projectOf(login, options))
  if (!stored) throw new StartError('The project has no tracking plan. Push one first.')
  writeFileSync(file, textOf(stored))
  console.log(`Wrote ${eventsOf(stored)} to ${file}`)
}

/** `npx footfall-server plan push`: reports the changes, then replaces the service's plan by the file's. */
export async function pushPlan(login: Login, file: string, options: Options): Promise<void> {
  const plan = readFile(file)
  const projectId = await projectOf(login, options)
  const stored = await readStored(login, projectId)
  const changes = changesBetween(stored, plan)
  for (const line of changes) console.log(line)
  if (changes.length === 0) return console.log('The service has this plan already')
  await clientOf(login).setTrackingPlan({
    ...plan,
    project_id: projectId,
    ...(stored && { version: stored.version }),
  })
  console.log(`Pushed ${eventsOf(plan)}`)
}

/** `npx footfall-server plan check`: whether a file is a valid plan and the service has it. */
export async function checkPlan(login: Login, file: string, options: Options): Promise<boolean> {
  const plan = readFile(file)
  const stored = await readStored(login, await projectOf(login, options))
  const changes = changesBetween(stored, plan)
  for (const line of changes) console.log(line)
  console.log(
    changes.length === 0
      ? `${file} is valid, and the service has it`
      : `${file} is valid, but the service has another plan. Run footfall-server plan push ${file}`,
  )
  return changes.length === 0
}

/** `npx footfall-server plan types`: writes the TypeScript declarations of a file's plan. */
export function writePlanTypes(file: string, output: string | undefined): void {
  const types = planTypes(readFile(file))
  if (output === undefined) process.stdout.write(types)
  else writeFileSync(output, types)
}

function readFile(file: string): TrackingPlan {
  let plan: unknown
  try {
    plan = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new StartError(`${file} cannot be read as JSON: ${(error as Error).message}`)
  }
  if (!Check(PlanFile, plan))
    throw new StartError(
      `${file} must have on_violation (mark or reject), on_unplanned (accept, mark or reject) and events, which has a schema for each name`,
    )
  const fault = findPlanFault(plan)
  if (fault) throw new StartError(`${file}: ${fault.path} ${fault.message}`)
  return plan
}

const clientOf = ({ url, key, secret }: Login) => createClient({ baseUrl: url, key, secret })

const readStored = async (login: Login, projectId: string) =>
  (await clientOf(login).getTrackingPlan({ project_id: projectId })).tracking_plan

/** The named project, or the only one that the key can access. */
async function projectOf(login: Login, { project }: Options): Promise<string> {
  if (project) return project
  const { projects } = await clientOf(login).whoAmI()
  if (projects.length !== 1)
    throw new StartError(
      [
        `The key can access ${projects.length} projects. Name one with --project ID`,
        ...projects.map(({ project_id, name }) => `  ${project_id}  ${name}`),
      ].join('\n'),
    )
  return projects[0]!.project_id
}

function eventsOf({ events }: TrackingPlan): string {
  const count = Object.keys(events).length
  return count === 1 ? '1 event' : `${count} events`
}

const textOf = ({ on_violation, on_unplanned, events }: TrackingPlan): string =>
  `${JSON.stringify({ on_violation, on_unplanned, events }, null, 2)}\n`

/** One line for each difference. */
function changesBetween(stored: TrackingPlan | null, plan: TrackingPlan): string[] {
  const old = stored?.events ?? {}
  const names = [...new Set([...Object.keys(old), ...Object.keys(plan.events)])].sort()
  const lines = names.flatMap((name) => {
    if (!Object.hasOwn(old, name)) return [`+ ${name}`]
    if (!Object.hasOwn(plan.events, name)) return [`- ${name}`]
    return isDeepStrictEqual(old[name], plan.events[name]) ? [] : [`~ ${name}`]
  })
  for (const setting of ['on_violation', 'on_unplanned'] as const)
    if (stored?.[setting] !== plan[setting])
      lines.push(`~ ${setting}: ${stored?.[setting] ?? 'not set'} → ${plan[setting]}`)
  return lines
}
