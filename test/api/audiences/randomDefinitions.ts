import type { Random } from '../../../collector/platform/seededRandom.ts'

const profileLeaf = (random: Random) => {
  const leaf = random.pick([
    { field: 'job_title', op: 'eq', value: 'CEO' },
    { field: 'job_title', op: 'ne', value: 'CEO' },
    { field: 'job_title', op: 'like', value: 'C%' },
    { field: 'job_title', op: 'in', value: ['CTO', 'Engineer'] },
    { field: 'age', op: 'gte', value: 40 },
    { field: 'age', op: 'lt', value: 50 },
    { field: 'age', op: 'between', value: [30, 60] },
    { field: 'age', op: 'is_set', value: false },
    { field: 'is_investor', op: 'eq', value: true },
    { field: 'company_industry', op: 'eq', value: 'Software' },
    { field: 'company_industry', op: 'is_set', value: true },
    { field: 'company_employee_count', op: 'gt', value: 100 },
  ])
  return { profile: leaf }
}

const eventLeaf = (random: Random) => ({
  event: {
    ...(random.chance(0.5) && { event_type: random.pick(['page_view', 'custom']) }),
    ...(random.chance(0.7) && {
      filter: random.pick([
        'page_path:like:/pricing%',
        'page_path:eq:/docs',
        'page_path:in:/docs|/',
        'is_bot:eq:false,page_path:ne:/',
        'event_data.plan:eq:pro',
        'event_data.seats:gte:5',
        'resolved:eq:true',
      ]),
    }),
    ...(random.chance(0.5) && { at_least: random.integer(1, 4) }),
    within_days: random.integer(1, 7),
  },
})

/** A part of a definition. */
export type Node = Record<string, unknown>

function treeOf(random: Random, depth: number, used: readonly string[]): Node {
  const leaf = (): Node =>
    used.length > 0 && random.chance(0.15)
      ? { audience: { audience_id: random.pick(used) } }
      : random.chance(0.6)
        ? eventLeaf(random)
        : profileLeaf(random)
  if (depth === 0 || random.chance(0.3)) return leaf()
  const children = () =>
    Array.from({ length: random.integer(1, 3) }, () => treeOf(random, depth - 1, used))
  if (random.chance(0.2)) return { not: treeOf(random, depth - 1, used) }
  return random.chance(0.5) ? { all: children() } : { any: children() }
}

/** A definition that names whom it is about, so that it is no "everybody but". */
export const definitionOf = (random: Random, used: readonly string[]): Node => ({
  include: random.chance(0.6)
    ? {
        all: [
          random.chance(0.7) ? eventLeaf(random) : profileLeaf(random),
          treeOf(random, 2, used),
        ],
      }
    : { any: [eventLeaf(random), profileLeaf(random)] },
  ...(random.chance(0.4) && { exclude: treeOf(random, 2, used) }),
})
