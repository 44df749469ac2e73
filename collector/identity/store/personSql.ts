/** Returns SQL of the main hem number of a person, from any of their hem numbers. */
export const personOf = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'person_number', tuple(${hemNumber}), ${hemNumber})`

/** Returns SQL of all hem numbers of a person, from any of them. */
export const hemsOfPerson = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'hems', tuple(${hemNumber}), [${hemNumber}])`

/** Returns SQL of the hem number of the profile that describes a hem: its own, otherwise the person's main one. */
export const profileOf = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'profile_number', tuple(${hemNumber}), ${hemNumber})`

/** Returns SQL of all hem numbers that a profile describes, from the hem number of the profile. */
export const hemsOfProfile = (hemNumber: string): string =>
  `arrayFilter(held -> ${profileOf('held')} = ${hemNumber}, ${hemsOfPerson(hemNumber)})`
