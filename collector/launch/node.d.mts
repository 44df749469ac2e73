export const launcherVariable: string
