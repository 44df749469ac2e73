import { useState } from 'preact/hooks'
import { api, type Project } from '../api.ts'
import { AsyncList } from '../components/asyncView.tsx'
import { Dialog } from '../components/dialog.tsx'
import { LinesField, linesOf, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { byText } from '../components/listTools.tsx'
import { Section } from '../components/page.tsx'
import { RelativeTime } from '../components/relativeTime.tsx'
import { go, Link } from '../router.tsx'
import { useListQuery } from '../useQuery.ts'
import { EuropeField, europeValues, settingsFor } from './pixel/europe.tsx'
import { originsHint } from './pixel/settings.tsx'

/** A project's pixels, with a button that creates one. */
export function ProjectPixels({ project, mayEdit }: { project: Project; mayEdit: boolean }) {
  const { project_id } = project
  const pixels = useListQuery(
    (cursor) => api.listPixels({ project_id, cursor }),
    ({ pixels }) => pixels,
  )
  const [isCreating, setCreating] = useState(false)
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      New pixel
    </button>
  )
  return (
    <Section
      title="Pixels"
      lead="A pixel is the script that a site loads, with its settings."
      actions={mayEdit && pixels.value?.length !== 0 && create}
    >
      <AsyncList
        query={pixels}
        of="pixels"
        arrangement={{
          text: ({ name, allowed_origins }) => `${name} ${allowed_origins.join(' ')}`,
          sorts: {
            created: { label: 'Oldest first' },
            name: { label: 'By name', compare: byText(({ name }) => name) },
          },
        }}
        empty={
          mayEdit ? (
            <>
              <h3>Create the first pixel</h3>
              <p>Paste two lines into your site, and see here when they work.</p>
              {create}
            </>
          ) : (
            <p>No pixels yet. A project admin can create one.</p>
          )
        }
      >
        {(pixel) => (
          <li key={pixel.pixel_id}>
            <div>
              <Link class="name" href={pathOf(project, pixel.pixel_id)}>
                {pixel.name}
              </Link>
              {!pixel.active && <span class="badge quiet">Off</span>}
              <p class="meta">
                {pixel.allowed_origins.length > 0
                  ? pixel.allowed_origins.join(', ')
                  : 'Any site can send events'}{' '}
                · created <RelativeTime at={pixel.created_at} />
              </p>
            </div>
          </li>
        )}
      </AsyncList>

      {isCreating && <NewPixelDialog project={project} close={() => setCreating(false)} />}
    </Section>
  )
}

const pathOf = ({ organization_id, project_id }: Project, pixelId: string) =>
  `/${organization_id}/projects/${project_id}/pixels/${pixelId}`

function NewPixelDialog({ project, close }: { project: Project; close(): void }) {
  return (
    <Dialog title="New pixel" close={close}>
      <Form
        values={europeValues}
        submit={async (values) => {
          const { name = '', allowed_origins = '' } = values
          const { pixel } = await api.createPixel({
            project_id: project.project_id,
            name,
            allowed_origins: linesOf(allowed_origins),
            ...settingsFor(values),
          })
          go(pathOf(project, pixel.pixel_id))
        }}
        action="Create pixel"
        cancel={close}
      >
        <TextField
          name="name"
          label="Name"
          hint="For example the name of the site."
          maxLength={200}
          required
        />
        <LinesField
          name="allowed_origins"
          label="Allowed origins (optional)"
          hint={originsHint}
          rows={2}
        />
        <EuropeField />
      </Form>
    </Dialog>
  )
}
