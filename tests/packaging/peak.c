/* Run a program, and write the most memory that it had, in KiB, to a file: peak FILE PROGRAM [WORD...]. A process begins with the
 * figure of the one that started it, so that one must be small. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    int status = 0;
    struct rusage used;
    if (count < 3) return 2;
    pid_t child = fork();
    if (child == 0) {
        execv(words[2], words + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) return 126;
    FILE *file = fopen(words[1], "w");
    if (file == NULL || fprintf(file, "%ld\n", used.ru_maxrss) < 0 || fclose(file) != 0) return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}
