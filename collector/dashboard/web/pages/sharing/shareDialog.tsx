import type { Answer } from '../../../../api/client/index.ts'
import { type AnalyticsSegment, api, type Pixel } from '../../api.ts'
import { AsyncView } from '../../components/asyncView.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Checkbox, LinesField, linesOf, Select, TextField } from '../../components/fields.tsx'
import { Form } from '../../components/form.tsx'
import { useQuery } from '../../useQuery.ts'

const everyPixel = 'project'
const ends = { 7: 'In a week', 30: 'In 30 days', 90: 'In 90 days', 365: 'In a year' }

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** Creates a share link with its content and expiry. */
export function ShareDialog({
  projectId,
  created,
  close,
}: {
  projectId: string
  created(answer: Answer<'createShareLink'>): void
  close(): void
}) {
  const choices = useQuery(async () => {
    const [{ pixels }, { segments }] = await Promise.all([
      api.listPixels({ project_id: projectId }),
      api.listAnalyticsSegments({ project_id: projectId }),
    ])
    return { pixels, segments }
  })
  return (
    <Dialog title="New share link" close={close}>
      <AsyncView query={choices}>
        {({ pixels, segments }) => (
          <Form
            values={{ shows: everyPixel, ends: '30', goals: 'on' }}
            submit={async ({
              name = '',
              shows,
              ends = '30',
              segment_id,
              goals,
              password,
              embed_origins = '',
            }) =>
              created(
                await api.createShareLink({
                  project_id: projectId,
                  name,
                  expires_at: inDays(Number(ends)),
                  pixel_id: shows === everyPixel ? null : shows,
                  segment_id: segment_id || null,
                  goals: goals === 'on',
                  password: password || null,
                  embed_origins: linesOf(embed_origins),
                }),
              )
            }
            action="Create link"
            cancel={close}
          >
            <TextField
              name="name"
              label="Name"
              hint="Heading of the shared page."
              maxLength={200}
              autocomplete="off"
              required
            />
            <ContentFields pixels={pixels} segments={segments} />
            <Checkbox name="goals" label="Show the goals" />
            <AccessFields />
            <Select
              name="ends"
              label="Ends"
              hint="The link stops working then. You can revoke it earlier."
              options={ends}
            />
          </Form>
        )}
      </AsyncView>
    </Dialog>
  )
}

function ContentFields({
  pixels,
  segments,
}: {
  pixels: readonly Pixel[]
  segments: readonly AnalyticsSegment[]
}) {
  return (
    <>
      <Select
        name="shows"
        label="Shows"
        options={{
          [everyPixel]: 'All pixels of the project',
          ...Object.fromEntries(pixels.map(({ pixel_id, name }) => [pixel_id, `Only ${name}`])),
        }}
      />
      {segments.length > 0 && (
        <Select
          name="segment_id"
          label="Segment"
          hint="The link keeps the segment as it is now."
          options={{
            '': 'All visitors',
            ...Object.fromEntries(segments.map(({ segment_id, name }) => [segment_id, name])),
          }}
        />
      )}
    </>
  )
}

/** Who may open the link. */
function AccessFields() {
  return (
    <>
      <TextField
        name="password"
        label="Password (optional)"
        hint="At least 8 characters. Viewers must enter it."
        type="password"
        autocomplete="new-password"
        minLength={8}
        maxLength={200}
      />
      <LinesField
        name="embed_origins"
        label="Sites that may embed it (optional)"
        hint="One origin a line, such as https://intranet.example."
        rows={2}
      />
    </>
  )
}
