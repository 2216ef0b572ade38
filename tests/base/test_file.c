#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/tacit-file-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static size_t files_in_folder(void) {
    size_t count = 0;
    DIR *handle = opendir(folder);
    while (readdir(handle) != NULL) count++;
    closedir(handle);
    return count - 2; /* . and .. */
}

static void a_file_is_replaced_whole(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(100);
    struct stat about;
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "a", &error), error);
    CHECK_OK(tacit_file_write(path, "first", 5, 0600, &error), error);
    CHECK_OK(tacit_file_write(path, "second one", 10, 0644, &error), error);
    CHECK_OK(tacit_file_read(path, &text, &error), error);
    assert_string_equal(tacit_buffer_text(&text), "second one");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0644);
    assert_int_equal(files_in_folder(), 1); /* no temporary file is left */
    tacit_buffer_clear(&text);
    unlink(path);
}

static void a_failed_write_leaves_the_old_file(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX], inside[PATH_MAX + 8];
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "sub", &error), error);
    CHECK_OK(tacit_folder_make(path, &error), error);
    snprintf(inside, sizeof inside, "%s/x", path);
    CHECK_OK(tacit_file_write(inside, "kept", 4, 0600, &error), error);
    assert_int_equal(tacit_file_write(path, "x", 1, 0600, &error), TACIT_IO); /* a folder is in the way */
    assert_int_equal(access(inside, F_OK), 0);
    assert_int_equal(files_in_folder(), 1);
    unlink(inside);
    rmdir(path);
}

static void a_device_is_written_not_replaced(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    struct stat about;
    CHECK_OK(tacit_file_write("/dev/null", "x", 1, 0600, &error), error);
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
}

static void a_file_beyond_the_limit_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(9);
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "b", &error), error);
    CHECK_OK(tacit_file_write(path, "ten bytes!", 10, 0600, &error), error);
    assert_int_equal(tacit_file_read(path, &text, &error), TACIT_LIMIT);
    assert_non_null(strstr(error.text, path));
    tacit_buffer_clear(&text);
    unlink(path);
}

static void missing_files_and_long_paths_are_said_so(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    char small[8];
    assert_int_equal(tacit_file_read("/nowhere/x", &text, &error), TACIT_IO);
    assert_string_equal(error.text, "opening /nowhere/x: No such file or directory");
    assert_int_equal(tacit_path_join(small, sizeof small, "folder", "name", NULL), TACIT_LIMIT);
    assert_int_equal(tacit_folder_make("", NULL), TACIT_USAGE);
    assert_int_equal(tacit_folder_make("/dev/null/x", NULL), TACIT_IO);
}

static void whether_a_file_could_be_written_is_known_beforehand(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    char path[PATH_MAX];
    CHECK_OK(tacit_path_join(path, sizeof path, folder, "new", &error), error);
    CHECK_OK(tacit_file_check_writable(path, &error), error);
    assert_int_equal(files_in_folder(), 0);
    CHECK_OK(tacit_file_write(path, "old", 3, 0600, &error), error);
    CHECK_OK(tacit_file_check_writable(path, &error), error);
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
    CHECK_OK(tacit_file_check_writable("/dev/null", &error), error);
    assert_int_equal(tacit_file_check_writable("/nowhere/x", NULL), TACIT_IO);
    assert_int_equal(tacit_file_check_writable(folder, &error), TACIT_IO);
    assert_non_null(strstr(error.text, "is a folder"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_whole),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
        cmocka_unit_test(a_device_is_written_not_replaced),
        cmocka_unit_test(a_file_beyond_the_limit_is_refused),
        cmocka_unit_test(whether_a_file_could_be_written_is_known_beforehand),
        cmocka_unit_test(missing_files_and_long_paths_are_said_so),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
