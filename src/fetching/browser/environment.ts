/**
 * The variables that Chromium needs, by the first part of their names. They tell where programs, fonts,
 * screens and the user's sessions are, the language and the time zone; on Windows also where the system is.
 */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_\w+|LD_LIBRARY_PATH|CHROME_DEVEL_SANDBOX|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|PROGRAMDATA|PROGRAMFILES\S*|COMMONPROGRAMFILES\S*|APPDATA|LOCALAPPDATA|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH)$/i;

/**
 * The environment of a browser's process. All other variables are withheld: they may hold secrets (API keys,
 * tokens of a CI job, proxy passwords), and a browser runs the scripts of strangers.
 * @param directory takes the browser's temporary files and crash reports, which would otherwise go to the
 * user's own configuration
 */
export function browserEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  directory: string,
): Record<string, string> {
  const needed = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && NEEDED.test(entry[0]),
  );
  return {
    ...Object.fromEntries(needed),
    TMPDIR: directory,
    TEMP: directory,
    TMP: directory,
    BREAKPAD_DUMP_LOCATION: directory,
  };
}
