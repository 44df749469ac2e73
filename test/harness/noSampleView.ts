import type { SampleView } from '../../collector/api/access/sampleView.ts'

/** For tests without test keys: everybody is who they are. */
export const noSampleView: SampleView = {
  enter: async (_request, principal) => principal,
  enterBody: async () => {},
  simulate: (work) => work(),
}
