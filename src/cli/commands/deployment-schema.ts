// A room's door that were itself imported dynamically would be loaded whole by everybody who takes one name of it.
export { deploymentJsonSchema } from "../../settings/index.ts";
