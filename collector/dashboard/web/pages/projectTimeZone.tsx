import { timeZoneOrUtc } from '../../../platform/timeZone.ts'
import type { Project } from '../api.ts'
import { Select } from '../components/fields.tsx'
import { presentZone, presentZones } from '../view/zoneNames.ts'
import { zone } from '../zone.ts'
import { ProjectForm, type ProjectFormProps } from './projectForm.tsx'

/** Chooses the time zone of a project's days. */
export function ProjectTimeZone({ saved, ...props }: ProjectFormProps) {
  return (
    <ProjectForm
      {...props}
      title="Time zone"
      lead="Days, weeks and months of all figures, also of past ones."
      valuesOf={({ time_zone }) => ({ time_zone: presentZone(time_zone) })}
      changeOf={({ time_zone = 'UTC' }) => ({ time_zone })}
      saved={(project: Project) => {
        zone.value = timeZoneOrUtc(project.time_zone)
        saved(project)
      }}
      toastText="Time zone saved"
      action="Save time zone"
    >
      <Select
        name="time_zone"
        label="Time zone"
        options={Object.fromEntries(
          [...new Set([...presentZones(), presentZone(props.project.time_zone)])].map((name) => [
            name,
            name.replaceAll('_', ' '),
          ]),
        )}
      />
    </ProjectForm>
  )
}
