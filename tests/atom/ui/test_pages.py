from atom.ui.pages import SCREENS, SECTIONS, find_screen


def test_every_screen_has_its_file_in_its_section(project):
    for screen in SCREENS:
        path = project / screen.file
        assert path.is_file(), screen.file
        assert screen.section in SECTIONS
        assert path.parent.parent.name == "pages"


def test_addresses_are_flat_and_unique():
    paths = [screen.url_path for screen in SCREENS]
    assert len(paths) == len(set(paths))
    assert all("/" not in path for path in paths)
    assert paths[0] == ""


def test_a_screen_is_found_by_its_address():
    for screen in SCREENS:
        assert find_screen(screen.url_path) is screen
    assert find_screen("nowhere") is None
