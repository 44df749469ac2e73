import { timeZoneOrUtc } from '../../../platform/timeZone.ts'
import { api, type Project } from '../api.ts'
import { EditForm } from '../components/editForm.tsx'
import { Select } from '../components/fields.tsx'
import { Section } from '../components/page.tsx'
import { toast } from '../components/toast.tsx'
import { presentZone, presentZones } from '../view/zoneNames.ts'
import { zone } from '../zone.ts'

/** Chooses the time zone of a project's days. */
export function ProjectTimeZone({
  project,
  mayEdit,
  saved,
}: {
  project: Project
  mayEdit: boolean
  saved(project: Project): void
}) {
  return (
    <Section title="Time zone" lead="Days, weeks and months of all figures, also of past ones.">
      <fieldset class="bare card" disabled={!mayEdit}>
        <legend class="visually-hidden">Time zone</legend>
        <EditForm
          object={project}
          kind="project"
          valuesOf={({ time_zone }) => ({ time_zone: presentZone(time_zone) })}
          save={({ time_zone = 'UTC' }, version) =>
            api.updateProject({ project_id: project.project_id, time_zone, version })
          }
          saved={(project) => {
            zone.value = timeZoneOrUtc(project.time_zone)
            toast('Time zone saved')
            saved(project)
          }}
          action="Save time zone"
        >
          <Select
            name="time_zone"
            label="Time zone"
            options={Object.fromEntries(
              [...new Set([...presentZones(), presentZone(project.time_zone)])].map((name) => [
                name,
                name.replaceAll('_', ' '),
              ]),
            )}
          />
        </EditForm>
      </fieldset>
    </Section>
  )
}
