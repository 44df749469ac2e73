import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, by waiting or for its few lines: begun first, it does not come last and alone. */
const longest = [
  'test/pixel/engines/',
  'test/engines/',
  'test/chaos/',
  'test/launch/npm',
  'test/processes/slowReaders',
  'test/stores/jobs',
  'test/check/',
  'test/browser/dashboardPages',
  'test/browser/docs',
  'test/api/audiences/failures',
  'test/api/audiences/oracle',
  'test/spec/routes/',
  'test/spec/conflicts',
  'test/unit/ingest/linear',
  'test/pixel/leaks',
]

/** Vitest's own order (what took longest the last time, else the largest file), after those. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      longest.some((path) => moduleId.includes(`/${path}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
