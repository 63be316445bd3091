/**
 * What Chromium needs of the machine, by the first part of a variable's name: where programs, fonts, screens and the
 * user's sessions are, the language and the time zone; on Windows also where the system is.
 */
const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_\w+|LD_LIBRARY_PATH|CHROME_DEVEL_SANDBOX|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|PROGRAMDATA|PROGRAMFILES\S*|COMMONPROGRAMFILES\S*|APPDATA|LOCALAPPDATA|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH)$/i;

/**
 * The variables of a browser's process. The others of ours stay with us, for they hold secrets (keys of the API, tokens
 * of a CI job, passwords of proxies), and a browser runs the scripts of strangers.
 * @param directory takes the browser's temporary files, and its reports of crashes, which would else go to the user's
 * own configuration
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
