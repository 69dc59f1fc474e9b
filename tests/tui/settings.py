#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings changed on the screen are there after a restart, and nothing that memstate
finds in the settings file is lost."""

import os
import re
import signal
import stat
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from live import check, equal, memstate, run, test
from terminal_lib import LEAVE, Terminal, has_terminals, plain

LIGHT_SELECTED = b"48;5;153"  # background of the selected row in the light theme
DARK_SELECTED = b"48;5;116"


class Home:
    """A temporary folder for the settings of one test."""

    def __init__(self, text=None):
        self.folder = tempfile.TemporaryDirectory(prefix="memstate-home-")
        self.path = os.path.join(self.folder.name, "memstate", "memstaterc")
        if text is not None:
            os.mkdir(os.path.dirname(self.path))
            self.write(text)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.folder.cleanup()

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)

    def text(self):
        with open(self.path, encoding="utf-8") as f:
            return f.read()

    def lines(self):
        return [line for line in self.text().splitlines() if not line.startswith("#")]

    def screen(self, *args, env=None, term="xterm-256color"):
        # two processes, because the screen shows a single one in another view
        return Screen("--heap", "off", "-p", f"{os.getpid()},{os.getppid()}", *args, term=term,
                      env={"XDG_CONFIG_HOME": self.folder.name, **(env or {})})


class Screen(Terminal):
    def __enter__(self):
        # a VT100 gets a control character between the words
        self.wait_for("the screen", lambda: re.search(rb"F10\W+Quit", plain(self.output)))
        return self

    def __exit__(self, *unused):
        self.close()

    def press(self, keys, text):
        """Send keys and wait for a text of the screen that follows."""
        self.type(keys)
        self.wait_for_text(text)

    def press_for_message(self, keys, text):
        """Send keys and wait for a message, which the next key would remove."""
        self.mark()
        os.write(self.master, keys)
        self.wait_for_text(text)

    def leave(self):
        """Quit, and return what memstate prints after the screen was closed."""
        self.type(b"q")
        equal(self.wait_for_end(), 0, "exit status")
        self.check_restored()
        return self.output[self.output.rfind(LEAVE):].decode(errors="replace")


def reverse_sort(home, texts, *args):
    """Wait for the texts on the screen, reverse the sort order and leave. Return what
    memstate prints after the screen was closed."""
    with home.screen(*args) as screen:
        for text in texts:
            screen.wait_for_text(text)
        screen.press(b"I", "RSS▲")
        return screen.leave()


@test
def changes_on_the_screen_are_there_after_a_restart():
    with Home() as home:
        with home.screen() as screen:
            check("RSS▼".encode() in screen.output, "the default sort order")
            screen.press(b"I", "RSS▲")
            screen.press_for_message(b"+", "interval 2.0s")
            screen.press_for_message(b"L", "theme light")
            screen.press(b"\x1bOQ", "Space shows or hides")
            screen.press(b" ", "[x] TIME")
            screen.press(b"\r", "USER TIME")
            screen.press(b"t", "F10 Quit")
            screen.leave()
        lines = home.lines()
        equal(lines[0], "version=1", "version")
        check(re.match("columns=pid,user,time[a-z_]*,rss_bytes,", lines[1]), lines[1])
        equal(lines[2:], ["sort=-rss_bytes", "tree=yes", "theme=light", "interval=2s"], "settings")
        equal(stat.S_IMODE(os.stat(home.path).st_mode), 0o600, "mode")
        before = home.text()
        with home.screen() as screen:
            screen.wait_for_text("every 2s")
            text = screen.output.decode(errors="replace")
            check("RSS▲" in text and "TIME" in text, text)
            check(LIGHT_SELECTED in screen.output, "the light theme")
            screen.leave()
        equal(home.text(), before, "settings after a screen without changes")


@test
def without_changes_no_file_is_written():
    with Home() as home:
        with home.screen("-s", "rss_bytes", "-i", "3s", "--theme", "mono", "-o", "pid,rss_bytes") as screen:
            screen.press(b"I", "PID RSS▲")
            screen.press(b"I", "PID RSS▼")
            screen.leave()
        equal(os.listdir(home.folder.name), [], "files")


@test
def options_have_precedence_and_are_not_saved():
    with Home("sort=pid\ninterval=5s\ntheme=light\ncolumns=pid,comm\n") as home:
        with home.screen("-s", "pss_bytes", "-i", "3s", "--theme", "dark", "-o", "+pss_bytes") as screen:
            screen.wait_for_text("every 3s")
            screen.wait_for_text("PSS▼")
            check(b"COMMAND" not in screen.output, "the columns of the file are shown")
            check(LIGHT_SELECTED not in screen.output, "the theme of the file is shown")
            screen.press(b"t", "F10 Quit")
            screen.leave()
        equal(home.lines(), ["sort=pid", "interval=5s", "theme=light", "columns=pid,comm", "version=1",
                             "tree=yes"], "settings")


@test
def columns_can_be_added_to_the_default():
    with Home("columns=+minflt,majflt\n") as home, home.screen() as screen:
        screen.wait_for_text("USER RSS▼")
    with Home("columns=+majflt,minflt\n") as home, home.screen() as screen:
        screen.resize(24, 200)
        screen.wait_for_text("COMMAND MAJFLT MINFLT")


@test
def no_config_ignores_the_file():
    with Home("sort=pid\n") as home:
        reverse_sort(home, ["RSS▼"], "--no-config")
        equal(home.text(), "sort=pid\n", "settings")


@test
def a_damaged_file_loses_nothing_and_is_reported():
    text = "# mine\nsort=rrs\ntree=yes\nnonsense\nfuture=x\n"
    with Home(text) as home:
        reverse_sort(home, ["memstaterc: line 4 is neither a setting nor a comment", "RSS▼"])
        equal(home.text(), "# mine\n# sort=rrs\nsort=-rss_bytes\ntree=yes\nnonsense\nfuture=x\n"
              "version=1\n", "settings")
    with Home("theme=purple\n") as home, home.screen() as screen:
        screen.wait_for_text("memstaterc: theme: 'purple' is not auto, dark, light or mono")


@test
def a_newer_version_is_neither_used_nor_overwritten():
    text = "version=2\nsort=pid\n"
    with Home(text) as home:
        message = reverse_sort(home, ["memstaterc: not used: for another version"])
        check("settings not saved: for another version of memstate" in message, message)
        equal(home.text(), text, "settings")


@test
def a_file_that_cannot_be_written_is_reported():
    with Home("version=1\n") as home:
        os.chmod(home.path, 0o444)
        with home.screen() as screen:
            screen.press(b"I", "RSS▲")
            message = screen.leave()
        check(f"memstate: {home.path}: settings not saved: Permission denied" in message, message)
        equal(home.text(), "version=1\n", "settings")
    with Home() as home:
        with home.screen(env={"XDG_CONFIG_HOME": "/dev/null"}) as screen:
            screen.press(b"I", "RSS▲")
            message = screen.leave()
        check("settings not saved: Not a directory" in message, message)
        with home.screen(env={"XDG_CONFIG_HOME": "here", "HOME": ""}) as screen:
            screen.press(b"I", "RSS▲")
            message = screen.leave()
        check("settings not saved: neither XDG_CONFIG_HOME nor HOME" in message, message)


@test
def a_symlink_stays_a_symlink():
    with Home("") as home:
        target = os.path.join(home.folder.name, "dotfiles")
        os.rename(home.path, target)
        os.symlink("../dotfiles", home.path)
        with home.screen() as screen:
            screen.press(b"I", "RSS▲")
            screen.leave()
        check(os.path.islink(home.path) and "sort=-rss_bytes\n" in home.text(), home.text())
        equal(sorted(os.listdir(home.folder.name)), ["dotfiles", "memstate"], "files")


@test
def two_screens_do_not_lose_changes_of_each_other():
    with Home() as home:
        with home.screen() as first, home.screen() as second:
            first.press(b"I", "RSS▲")
            second.press_for_message(b"L", "theme light")
            second.leave()
            first.leave()
        equal(home.lines(), ["version=1", "theme=light", "sort=-rss_bytes"], "settings")


@test
def a_signal_saves_as_well():
    for number in (signal.SIGTERM, signal.SIGHUP):
        with Home() as home:
            with home.screen() as screen:
                screen.press_for_message(b"L", "theme light")
                screen.process.send_signal(number)
                screen.wait_for_end()
            equal(home.lines(), ["version=1", "theme=light"], "settings")


@test
def reports_and_series_do_not_depend_on_the_file():
    with Home("sort=pid\ncolumns=pid\ninterval=5s\n") as home:
        pid = str(os.getpid())
        for args in (("--csv", "-n", "1"), ("--text", "-o", "+pss_bytes")):
            outputs = []
            for folder in (home.folder.name, "/nonexistent"):
                out = memstate(*args, "--heap", "off", "-p", pid,
                               env={**os.environ, "XDG_CONFIG_HOME": folder}).out
                outputs.append(re.sub(rb"[0-9.]+", b"N", out.split(b"\n")[0]))
            equal(outputs[0], outputs[1], "headings")


@test
def the_terminal_and_the_environment_choose_the_theme():
    with Home("theme=light\n") as light, Home() as home:
        for screen, wanted, other in (
                (home.screen(), DARK_SELECTED, LIGHT_SELECTED),
                (home.screen(env={"COLORFGBG": "0;15"}), LIGHT_SELECTED, DARK_SELECTED),
                (home.screen(env={"COLORFGBG": "15;0"}), DARK_SELECTED, LIGHT_SELECTED),
                (home.screen("--theme", "light", env={"NO_COLOR": "1"}), LIGHT_SELECTED, DARK_SELECTED),
                (light.screen(), LIGHT_SELECTED, DARK_SELECTED),
                (light.screen(env={"NO_COLOR": "1"}), b"RSS", b"38;5;"),
                (light.screen(term="vt100"), b"RSS", b"38;5;")):
            with screen:
                check(wanted in screen.output and other not in screen.output, screen.output[-2000:])


if __name__ == "__main__":
    if not has_terminals():
        sys.exit(77)
    run()
